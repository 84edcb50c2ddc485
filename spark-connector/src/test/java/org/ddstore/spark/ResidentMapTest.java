// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Batch;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ResidentShard;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** DataFrames of rows that functions make of stores, in the executors that hold the rows. */
@Tag("system")
@Timeout(300)
class ResidentMapTest extends OnResidentCluster {
  private static final StructType SCHEMA =
      new StructType()
          .add("index", DataTypes.LongType)
          .add("sum", DataTypes.DoubleType)
          .add("text", DataTypes.StringType)
          .add("executor", DataTypes.StringType)
          .add("partition", DataTypes.IntegerType);

  /** Notes when it is opened and closed. */
  private record Model(Evidence evidence, String id) implements BatchMapper {
    static BatchFunction of(Evidence evidence) {
      return () -> {
        String id =
            "%d-%d".formatted(TaskContext.getPartitionId(), TaskContext.get().taskAttemptId());
        evidence.note("opened-" + id, "");
        return new Model(evidence, id);
      };
    }

    @Override
    public void map(Batch batch, long firstRow, Consumer<Row> output) {
      for (int i = 0; i < batch.rows(); i++) {
        double sum = batch.field("id").getLong(i) + batch.field("x").getFloat(2L * i);
        output.accept(
            RowFactory.create(
                firstRow + i,
                sum,
                batch.string("t", i),
                StartedRank.executorId(),
                TaskContext.getPartitionId()));
      }
    }

    @Override
    public void close() {
      evidence.note("closed-" + id, "");
    }
  }

  /** A model that fails at a row. */
  private record FailingModel(BatchMapper model) implements BatchMapper {
    @Override
    public void map(Batch batch, long firstRow, Consumer<Row> output) throws Exception {
      if (firstRow >= 700) {
        throw new IOException("no weights for row " + firstRow);
      }
      model.map(batch, firstRow, output);
    }

    @Override
    public void close() throws IOException {
      model.close();
    }
  }

  private static BatchFunction failing(Evidence evidence) {
    return () -> new FailingModel(Model.of(evidence).open());
  }

  private ResidentStore load() {
    return DDStores.from(numberedRows()).ranks(4).orderBy("id").load("train");
  }

  private long notes(String prefix) throws Exception {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(file -> file.getFileName().toString().startsWith(prefix)).count();
    }
  }

  @Test
  void rowsAreMadeBesideTheirShards() throws Exception {
    ResidentStore store = load();
    Dataset<Row> mapped = store.map(Model.of(new Evidence(directory)), SCHEMA, 128);
    assertThat(mapped.schema()).isEqualTo(SCHEMA);
    assertThat(notes("opened-")).as("mappers of a lazy frame").isZero();

    List<Row> rows = mapped.collectAsList();

    assertThat(rows).hasSize(ROWS);
    Map<Long, ResidentShard> shards = new HashMap<>();
    store.shards().forEach(shard -> shards.put((long) shard.rank(), shard));
    for (int i = 0; i < ROWS; i++) {
      Row row = rows.get(i);
      assertThat(row.getLong(0)).as("order of rows").isEqualTo(i);
      assertThat(row.getDouble(1)).isEqualTo(2.0 * i);
      assertThat(row.getString(2)).isEqualTo("t" + i);
      ResidentShard shard = shards.get((long) row.getInt(4));
      assertThat(row.getString(3)).as("executor of row %d", i).isEqualTo(shard.executorId());
    }
    assertThat(notes("opened-")).as("mappers").isEqualTo(4);
    assertThat(notes("closed-")).isEqualTo(4);
    assertThat(mapped.where("index < 10").count()).isEqualTo(10);
    assertThat(notes("opened-")).as("mappers after a second action").isEqualTo(8);
    assertThat(notes("closed-")).isEqualTo(8);
  }

  @Test
  void earlyEndsAndFailuresCloseTheMapper() throws Exception {
    ResidentStore store = load();
    Dataset<Row> mapped = store.map(Model.of(new Evidence(directory)), SCHEMA, 1);
    assertThat(mapped.limit(3).collectAsList()).hasSize(3);
    assertThat(notes("closed-")).isEqualTo(notes("opened-")).isPositive();

    BatchFunction failing = failing(new Evidence(directory));
    assertThatThrownBy(() -> store.map(failing, SCHEMA, 100).count())
        .hasStackTraceContaining("no weights for row")
        .hasStackTraceContaining("store \"train\": cannot map rows [");
    await("tasks that Spark has cancelled close their mappers")
        .atMost(Duration.ofMinutes(1))
        .until(() -> notes("closed-") == notes("opened-"));
  }

  @Test
  void keepsTheRowsOfItsCallAndLeavesOutEmptyShards() {
    ResidentStore store = DDStores.from(numberedRows().limit(2)).ranks(4).load("few");
    Dataset<Row> mapped =
        store.map(
            () ->
                (batch, firstRow, output) -> {
                  for (int i = 0; i < batch.rows(); i++) {
                    if ((firstRow + i) % 2 == 0) { // fewer rows than the batch, and then more
                      output.accept(RowFactory.create(firstRow + i));
                      output.accept(RowFactory.create(-firstRow - i - 1));
                    }
                  }
                },
            new StructType().add("n", DataTypes.LongType),
            10);
    assertThat(mapped.rdd().getNumPartitions()).isEqualTo(2);
    store.append(numberedRows().limit(4));
    Set<Long> found = new HashSet<>();
    mapped.collectAsList().forEach(row -> found.add(row.getLong(0)));
    assertThat(found).containsExactlyInAnyOrder(0L, -1L);
    ResidentStore none = DDStores.from(numberedRows().limit(0)).ranks(2).load("none");
    assertThat(none.map(Model.of(new Evidence(directory)), SCHEMA, 10).count()).isZero();
  }

  @Test
  void misuseIsNamed() {
    ResidentStore store = load();
    BatchFunction any = Model.of(new Evidence(directory));
    assertThatThrownBy(() -> store.map(any, SCHEMA, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("batch size 0 below 1");
    Object lock = new Object();
    assertThatThrownBy(
            () ->
                store.map(
                    () -> (batch, firstRow, output) -> output.accept(RowFactory.create(lock)),
                    SCHEMA,
                    1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.Object, which is not serializable");
    assertThatThrownBy(() -> store.map(() -> null, SCHEMA, 1).count())
        .hasStackTraceContaining("returns null: return a mapper");
    assertThatThrownBy(
            () ->
                store
                    .map(() -> (batch, firstRow, output) -> output.accept(null), SCHEMA, 5)
                    .count())
        .hasStackTraceContaining(
            "the mapper of map(..) on store \"train\" passes null to its output")
        .hasStackTraceContaining("after 0 rows: pass a Row");
    Dataset<Row> mapped = store.map(any, SCHEMA, 10);
    store.drop();
    assertThatThrownBy(mapped::count)
        .hasStackTraceContaining("store \"train\" was dropped or replaced after map(..)");
    assertThatThrownBy(() -> store.map(any, SCHEMA, 10)).isInstanceOf(IllegalStateException.class);
  }
}
