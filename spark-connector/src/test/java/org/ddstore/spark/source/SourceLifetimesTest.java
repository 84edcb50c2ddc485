// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreGauges;
import org.ddstore.spark.ingest.VectorType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lifetimes of the store resources of scans and metrics, and columns of a user's own types. */
@Tag("system")
@Timeout(300)
class SourceLifetimesTest extends SourceOnCluster {
  private static final int ROWS = 3_000;

  @BeforeAll
  static void start() {
    start(2, 1);
  }

  private ResidentStore load() {
    return DDStores.from(spark.range(ROWS).selectExpr("id", "concat('row ', id) as text"))
        .ranks(2)
        .load("n");
  }

  @Test
  void scanContinuesAfterItsStoreIsDropped(@TempDir Path gate) throws Exception {
    ResidentStore store = load();
    String folder = gate.toString();
    MapFunction<Row, String> slow =
        row -> {
          if (row.getLong(0) == 0) {
            Files.createFile(Path.of(folder, "reading"));
            await().atMost(2, TimeUnit.MINUTES).until(() -> Files.exists(Path.of(folder, "go")));
          }
          return row.getLong(0) + " " + row.getString(1);
        };
    CompletableFuture<List<String>> rows =
        CompletableFuture.supplyAsync(
            () ->
                spark
                    .sql("select id, text from ddstore.n")
                    .map(slow, Encoders.STRING())
                    .collectAsList());
    try {
      await("the first row is read")
          .atMost(2, TimeUnit.MINUTES)
          .until(() -> rows.isDone() || Files.exists(gate.resolve("reading")));
      store.drop();
      assertThat(rows).isNotDone();
    } finally {
      Files.createFile(gate.resolve("go"));
    }
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      expected.add(i + " row " + i);
    }
    assertThat(rows.get(2, TimeUnit.MINUTES)).containsExactlyInAnyOrderElementsOf(expected);
    assertThatThrownBy(() -> spark.sql("select * from ddstore.n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no store \"n\"");
  }

  /** Spark feeds the script from a thread of its own, which outlives the task. */
  @Test
  @Tag("slow")
  void slowScriptDoesNotEndItsExecutor() {
    runSlowScripts(1);
  }

  @Test
  @Tag("slow")
  void slowScriptsInARowDoNotEndTheirExecutor() {
    runSlowScripts(3);
  }

  /**
   * Runs queries of a script that reads slowly, each of several seconds, and checks that no
   * executor ends.
   */
  private void runSlowScripts(int queries) {
    spark
        .range(8_000)
        .selectExpr("id", "repeat('x', 10000) as payload")
        .write()
        .format("ddstore")
        .option("ranks", 2)
        .option("backing", "direct")
        .save("n");
    Set<Long> processes = Set.copyOf(cluster.inEverySlot(rows -> ProcessHandle.current().pid()));
    String slowly =
        "SELECT count(*) FROM (SELECT * FROM (SELECT TRANSFORM(id, payload) USING"
            + " 'head -n 5; while sleep 0.02 && head -c 150000 | grep -q .; do :; done'"
            + " AS (a, b) FROM ddstore.n) LIMIT 1)";
    for (int query = 0; query < queries; query++) {
      assertThat(spark.sql(slowly).first().getLong(0)).isEqualTo(1);
    }
    spark.sql("drop table ddstore.n");
    assertThat(cluster.inEverySlot(rows -> ProcessHandle.current().pid()))
        .as("executors")
        .containsExactlyInAnyOrderElementsOf(processes);
  }

  private void assertIds(String table, long count, boolean fromCache) {
    Dataset<Row> ids = spark.sql("select count(distinct id), max(id) from " + table);
    assertThat(ids.collectAsList()).hasToString("[[%d,%d]]".formatted(count, count - 1));
    assertThat(ids.queryExecution().executedPlan().toString().contains("Scan In-memory table"))
        .as("%s from Spark's cache", table)
        .isEqualTo(fromCache);
  }

  private long countIds() {
    return spark.sql("select count(distinct id) from ddstore.n").first().getLong(0);
  }

  @Test
  void cachedTablesAreUsedAndFollowTheStore() {
    ResidentStore store = load();
    try {
      spark.sql("cache table ddstore.n");
      assertIds("ddstore.n", ROWS, true);

      store.append(spark.range(ROWS, ROWS + 1).selectExpr("id", "'more' as text"));
      spark.sql("refresh table ddstore.n"); // Spark is not told of it otherwise
      assertThat(countIds()).isEqualTo(ROWS + 1);

      spark.sql("insert into ddstore.n select " + (ROWS + 1) + "L, 'more'");
      assertThat(countIds()).isEqualTo(ROWS + 2);

      spark.sql("drop table ddstore.n");
      load();
      assertIds("ddstore.n", ROWS, false);
    } finally {
      spark.catalog().clearCache();
    }
  }

  @Test
  void cachedTableSeesAnInsert() {
    load();
    try {
      spark.sql("cache table ddstore.n");
      assertIds("ddstore.n", ROWS, true);
      spark.sql("insert into ddstore.n select " + ROWS + "L, 'more'");
      assertThat(countIds()).isEqualTo(ROWS + 1);
    } finally {
      spark.catalog().clearCache();
    }
  }

  private static long sum(List<Map<String, Long>> all, String regex) {
    return all.stream()
        .flatMap(gauges -> gauges.entrySet().stream())
        .filter(gauge -> gauge.getKey().matches(regex))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  @Test
  void metricsCountScansAndRanksUntilTheDrop() {
    ResidentStore store = load();
    for (int scans = 1; scans <= 2; scans++) {
      spark.sql("select sum(id) from ddstore.n").collectAsList();
      List<Map<String, Long>> all = cluster.inEverySlot(rows -> StoreGauges.of("n"));
      assertThat(sum(all, "scan\\..*\\.rows")).isEqualTo((long) scans * ROWS);
      assertThat(sum(all, "scan\\..*\\.bytes")).isEqualTo((long) scans * ROWS * Long.BYTES);
    }
    store.run(
        rank -> {
          try (Reader reader = rank.rows().reader("id");
              Batch batch = reader.getBatch(0, 1, ROWS - 1)) {
            return batch.rows();
          }
        });
    List<Map<String, Long>> all = cluster.inEverySlot(rows -> StoreGauges.of("n"));
    assertThat(sum(all, "rank0\\..*\\.rows")).isEqualTo(3);
    assertThat(sum(all, "rank1\\..*\\.rows")).isEqualTo(3);
    store.drop();
    assertThat(cluster.inEverySlot(rows -> StoreGauges.of("n"))).allMatch(Map::isEmpty);
  }

  @Test
  void roundTripsUserDefinedTypes() {
    StructType schema = new StructType().add("id", "bigint").add("v", new VectorType());
    spark
        .createDataFrame(
            List.of(
                RowFactory.create(0L, new double[] {1, 2}),
                RowFactory.create(1L, new double[] {3, -4})),
            schema)
        .write()
        .format("ddstore")
        .save("n");
    assertThat(spark.table("ddstore.n").schema()).isEqualTo(schema);
    List<Row> rows = spark.sql("select v, id from ddstore.n order by id").collectAsList();
    assertThat((double[]) rows.get(0).get(0)).containsExactly(1, 2);
    assertThat((double[]) rows.get(1).get(0)).containsExactly(3, -4);
  }
}
