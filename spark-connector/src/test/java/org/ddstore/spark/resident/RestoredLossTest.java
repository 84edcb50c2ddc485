// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The loss of one of two executors under restored stores, and under the dump and the map of a
 * store. All stores lose it at the same time, before the first test.
 */
@Tag("system")
@Timeout(600)
@Tag("slow")
@Tag("always")
class RestoredLossTest extends OnTestCluster {
  private static final StructType SCHEMA = new StructType().add("id", DataTypes.LongType);

  @TempDir private static Path dumps;

  private static ResidentStore restored;
  private static ResidentStore orphan;
  private static ResidentStore dumped;
  private static ResidentStore other;
  private static String digest;
  private static Dataset<Row> mapped;

  @BeforeAll
  static void loseAnExecutor() {
    cluster = TestCluster.start(2, 2, 1024);
    dumped = DDStores.from(numberedRows()).ranks(4).load("dumped");
    other = DDStores.from(numberedRows()).ranks(4).load("other");
    digest = dumped.digest();
    dumped.dump(path("kept"));
    dumped.dump(path("deleted"));
    restored = DDStores.restore(cluster.session(), path("kept")).ranks(3).load("restored");
    restored.append(numberedRows().where("id < 40"));
    orphan = DDStores.restore(cluster.session(), path("deleted")).ranks(4).load("orphan");
    mapped =
        other.map(
            () ->
                (batch, firstRow, output) -> {
                  for (int i = 0; i < batch.rows(); i++) {
                    output.accept(RowFactory.create(batch.field("id").getLong(i)));
                  }
                },
            SCHEMA,
            100);
    cluster.killExecutor(restored.shards().get(1).executorId());
    for (ResidentStore store : DDStores.list(cluster.session())) {
      await("loss of " + store)
          .atMost(Duration.ofMinutes(2))
          .until(() -> store.shards().stream().anyMatch(ResidentShard::isLost));
    }
  }

  @AfterAll
  static void assertNothingLeft() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingLeft();
  }

  private static String path(String name) {
    return dumps.resolve(name).toString();
  }

  private static long lost(ResidentStore store) {
    return store.shards().stream().filter(ResidentShard::isLost).count();
  }

  @Test
  void lostRowsComeBackFromTheDump() {
    String before = restored.digest();
    assertThat(lost(restored)).isPositive();
    List<Long> sums = restored.run(OnTestCluster::readAll);
    assertThat(sums).containsOnly(SUM);
    assertThat(lost(restored)).isZero();
    assertThat(restored.digest()).isEqualTo(before);
    assertThat(restored.rows()).isEqualTo(ROWS + 40);
  }

  @Test
  void aDeletedDumpCannotRestoreLostRows() throws IOException {
    try (Stream<Path> all = Files.walk(Path.of(path("deleted")))) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    assertThatThrownBy(orphan::repair)
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith(
            "rows of \"orphan\" were lost with their executor, and their source")
        .hasMessageContaining("is missing")
        .hasMessageContaining("drop() \"orphan\"");
    assertThat(lost(orphan)).isPositive();
  }

  @Test
  void aDumpFirstRestoresLostRows() {
    assertThat(lost(dumped)).isPositive();
    assertThat(dumped.dump(path("second")).digest()).isEqualTo(digest);
    assertThat(lost(dumped)).isZero();
  }

  @Test
  void aMapOfLostRowsNamesTheRemedy() {
    assertThatThrownBy(mapped::count)
        .hasStackTraceContaining("RankLostException")
        .hasStackTraceContaining("of store \"other\" were lost with executor")
        .hasStackTraceContaining("call repair()");
    other.repair();
    assertThat(mapped.selectExpr("sum(id)").first().getLong(0)).isEqualTo(SUM);
  }
}
