package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the batches of a task hold of the memory of its process. */
@Timeout(300)
class RowBatchesTest {
  private static final int ROWS = 100_000;

  private final SparkSession spark = LocalSpark.session();
  private ResidentStore store;

  @BeforeEach
  void load() {
    store = DDStores.from(spark.range(ROWS).toDF()).ranks(1).load("batches");
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
  void whatWasCopiedIsFreedAtTheEndOfTheRowsNotOfTheTask() {
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
}
