// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.Platform;
import org.ddstore.RecordMemory;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.task.PartitionJob;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.collection.Iterator;

/**
 * Checks that the batches of a scan share the memory of the shards: a task holds them while the
 * owners of the rows change a few bytes there, which no call of a store does, and reads them again.
 */
@Tag("system")
@Timeout(300)
class SourceInPlaceTest extends SourceOnCluster {
  private static final int ROWS = 1_000;

  @TempDir private Path directory;

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  /** Row i is (i, [i, i, i]), in one of two shards. */
  @BeforeEach
  void load() {
    spark
        .range(ROWS)
        .selectExpr("id", "array_repeat(float(id), 3) as x")
        .write()
        .format("ddstore")
        .option("ranks", "2")
        .save("n");
  }

  /** The fields of a row in a batch: the number, and one of the array's three elements. */
  private record Seen(long index, long id, float middle) implements Serializable {}

  private static Seen row(long index) {
    return new Seen(index, index, (float) index);
  }

  private static Seen changedRow(long index) {
    return new Seen(index, -index, (float) -index);
  }

  private static List<Seen> see(List<ColumnarBatch> batches) {
    List<Seen> rows = new ArrayList<>();
    for (ColumnarBatch batch : batches) {
      for (int i = 0; i < batch.numRows(); i++) {
        rows.add(
            new Seen(
                batch.column(2).getLong(i),
                batch.column(0).getLong(i),
                batch.column(1).getArray(i).getFloat(1)));
      }
    }
    return rows;
  }

  /** Makes all rows those of {@link #changedRow}, each by the rank that has it in its process. */
  private static int change(RankContext context) {
    Schema schema = context.rows().schema();
    int id = schema.fixedOffset(schema.indexOf("id"));
    int middle = schema.fixedOffset(schema.indexOf("x")) + Float.BYTES;
    int rows = 0;
    for (long row = 0; row < ROWS; row++) {
      try (RecordMemory memory = context.rows().memory(row).orElseThrow()) {
        if (memory.path() == ReadPath.OWN_PROCESS) {
          Platform.putLong(null, memory.address(row) + id, -row);
          Platform.putFloat(null, memory.address(row) + middle, (float) -row);
          rows++;
        }
      }
    }
    return rows;
  }

  /**
   * Returns the rows that the only task of a small scan sees in its batches, before and after all
   * rows are changed.
   *
   * @param query of id, x and the index
   * @param count of the batches
   */
  private List<List<Seen>> seeBeforeAndAfter(Dataset<Row> query, int count) throws Exception {
    Evidence evidence = new Evidence(directory);
    SparkPlan scan = query.queryExecution().executedPlan().collectLeaves().head();
    RDD<ColumnarBatch> batches = scan.executeColumnar();
    assertThat(batches.getNumPartitions()).as("tasks").isOne();
    CompletableFuture<List<List<Seen>>> task =
        CompletableFuture.supplyAsync(
            () -> PartitionJob.of(batches, all -> seeTwice(all, count, evidence)).run().get(0));
    await("the task has seen the rows")
        .atMost(2, TimeUnit.MINUTES)
        .until(() -> evidence.has("seen") || task.isDone());
    assertThat(DDStores.open(spark, "n").run(SourceInPlaceTest::change))
        .as("rows changed by each rank")
        .containsExactly(ROWS / 2, ROWS / 2);
    evidence.note("changed", "");
    return task.get(2, TimeUnit.MINUTES);
  }

  /** Does not ask whether there are more: what was copied goes when there are none. */
  private static List<List<Seen>> seeTwice(
      Iterator<ColumnarBatch> batches, int count, Evidence evidence) {
    List<ColumnarBatch> held = new ArrayList<>();
    while (held.size() < count) {
      held.add(batches.next());
    }
    List<Seen> before = see(held);
    evidence.note("seen", "");
    evidence.awaitNote("changed");
    return List.of(before, see(held));
  }

  @Test
  void batchesOfRunsAliasTheMemoryOfTheShards() throws Exception {
    Dataset<Row> all = spark.sql("select id, x, __index from ddstore.n");
    List<List<Seen>> seen = seeBeforeAndAfter(all, 2); // one a shard
    assertThat(seen.get(0))
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, ROWS).mapToObj(SourceInPlaceTest::row).toList());
    assertThat(seen.get(1))
        .as("the same batches, after the memory has changed")
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, ROWS).mapToObj(SourceInPlaceTest::changedRow).toList());
    assertThat(metric(all, "ddstoreRowsOwnProcess")).isEqualTo(ROWS / 2);
    assertThat(metric(all, "ddstoreRowsSameHost")).isEqualTo(ROWS / 2);
  }

  @Test
  void batchesOfSingleRowsAreCopies() throws Exception {
    String some = "select id, x, __index from ddstore.n where __index in (1, 3)";
    List<List<Seen>> seen = seeBeforeAndAfter(spark.sql(some), 1);
    assertThat(seen.get(0)).containsExactlyInAnyOrder(row(1), row(3));
    assertThat(seen.get(1)).as("after the memory has changed").isEqualTo(seen.get(0));
    assertThat(spark.sql(some).collectAsList().stream().map(row -> row.getLong(0)))
        .as("what another scan reads")
        .containsExactlyInAnyOrder(-1L, -3L);
  }
}
