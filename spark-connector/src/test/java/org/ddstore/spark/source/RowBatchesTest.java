// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of a process that the batches of its tasks hold. */
@Timeout(300)
class RowBatchesTest {
  private static final int ROWS = 100_000;

  private final SparkSession spark = LocalSpark.session();
  private ResidentStore store;

  @BeforeEach
  void load() {
    store =
        DDStores.from(spark.range(ROWS).toDF()).ranks(1).backing(Backing.DIRECT).load("batches");
  }

  @AfterEach
  void drop() {
    store.drop();
  }

  /** Every second row, so that they come together in batches, as rows of other hosts do. */
  private static RowRanges apart() {
    return RowRanges.of(LongStream.range(0, ROWS / 2).map(i -> 2 * i).toArray());
  }

  /** By one task, which has as many readers as one that takes several partitions. */
  private static List<Long> heldAfterEach(int readers, StoreHandle store, ReadSchema columns) {
    long before = OffHeapBuffer.liveBytes();
    return IntStream.range(0, readers)
        .mapToObj(
            reader -> {
              RowBatches batches = RowBatches.open(store, columns, apart(), Long.BYTES);
              readToTheEnd(batches, before);
              long held = OffHeapBuffer.liveBytes() - before;
              batches.close();
              assertThat(batches.next()).as("after the end").isNull();
              return held;
            })
        .toList();
  }

  private static void readToTheEnd(RowBatches batches, long before) {
    long next = 0;
    for (ColumnarBatch batch = batches.next(); batch != null; batch = batches.next()) {
      assertThat(OffHeapBuffer.liveBytes()).as("with a batch").isGreaterThan(before);
      for (int row = 0; row < batch.numRows(); row++) {
        assertThat(batch.column(0).getLong(row)).isEqualTo(next);
        next += 2;
      }
    }
    assertThat(next).isEqualTo(ROWS);
  }

  @Test
  void copiesAreFreedAtTheEndOfTheRowsBeforeTheEndOfTheTask() {
    StoreHandle handle = store.handle();
    ReadSchema columns = ReadSchema.of(store.sourceSchema(), store.sourceSchema(), Set.of());
    MapPartitionsFunction<Long, Long> task = none -> heldAfterEach(3, handle, columns).iterator();
    List<Long> held =
        spark
            .range(0, 1, 1, 1)
            .as(Encoders.LONG())
            .mapPartitions(task, Encoders.LONG())
            .collectAsList();
    assertThat(held).as("bytes after the end of each reader").containsExactly(0L, 0L, 0L);
  }

  /** A thread that reads rows of a task, as the writer thread of a TRANSFORM script does. */
  private static final class Writer {
    private static Writer current; // of the task, which runs in this process

    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private RowBatches batches;
    private ColumnarBatch batch;

    /** By the task, which looks for a first row itself, as Spark does. */
    void start(RowBatches rows) throws Exception {
      batches = rows;
      batch = rows.next();
      assertThat(thread.submit(() -> batch.column(0).getLong(0)).get(1, TimeUnit.MINUTES)).isZero();
    }

    Future<Long> sum() {
      return thread.submit(
          () -> {
            ColumnVector ids = batch.column(0);
            return LongStream.range(0, batch.numRows()).map(row -> ids.getLong((int) row)).sum();
          });
    }
  }

  /** Rows that come together in batches, and rows that are read where they lie. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anotherThreadReadsItsBatchAfterTheTaskEnds(boolean together) throws Exception {
    StoreHandle handle = store.handle();
    ReadSchema columns = ReadSchema.of(store.sourceSchema(), store.sourceSchema(), Set.of());
    RowRanges rows = together ? apart() : RowRanges.between(0, ROWS);
    Writer writer = new Writer();
    Writer.current = writer;
    MapPartitionsFunction<Long, Long> task =
        none -> {
          Writer.current.start(RowBatches.open(handle, columns, rows, Long.BYTES));
          return List.of(1L).iterator();
        };
    try {
      spark
          .range(0, 1, 1, 1)
          .as(Encoders.LONG())
          .mapPartitions(task, Encoders.LONG())
          .collectAsList();
      store.drop();
      assertThat(OffHeapBuffer.liveBytes()).as("held for the thread").isPositive();
      long last = together ? 2L * (writer.batch.numRows() - 1) : writer.batch.numRows() - 1;
      assertThat(writer.sum().get(1, TimeUnit.MINUTES))
          .isEqualTo(last * writer.batch.numRows() / 2);
      assertThatThrownBy(() -> writer.batch.column(0).getLong(0))
          .as("a thread that has read nothing before the end of the task")
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("after the end of its task");
      assertThat(writer.thread.submit(() -> catchThrowable(writer.batches::next)))
          .succeedsWithin(1, TimeUnit.MINUTES)
          .isInstanceOf(IllegalStateException.class);
    } finally {
      writer.thread.shutdown();
    }
    await("the end of the thread frees the memory")
        .untilAsserted(() -> assertThat(OffHeapBuffer.liveBytes()).isZero());
  }

  /** A thread that does not end holds the memory no longer than it can reach it. */
  @Test
  void freesTheUnreachableBatchOfAPoolThread() throws Exception {
    StoreHandle handle = store.handle();
    ReadSchema columns = ReadSchema.of(store.sourceSchema(), store.sourceSchema(), Set.of());
    Writer.current = new Writer();
    ExecutorService pool = Writer.current.thread;
    MapPartitionsFunction<Long, Long> task =
        none -> {
          Writer.current.start(RowBatches.open(handle, columns, apart(), Long.BYTES));
          return List.of(1L).iterator();
        };
    try {
      spark
          .range(0, 1, 1, 1)
          .as(Encoders.LONG())
          .mapPartitions(task, Encoders.LONG())
          .collectAsList();
      store.drop();
      assertThat(OffHeapBuffer.liveBytes()).as("held for the thread").isPositive();
      Writer.current = null;
      await("the memory of an unreachable batch is freed")
          .untilAsserted(
              () -> {
                System.gc();
                assertThat(OffHeapBuffer.liveBytes()).isZero();
              });
    } finally {
      pool.shutdown();
    }
  }
}
