// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Metrics of stores in Spark's sinks, in one executor of 2 slots with two sinks. */
@Tag("system")
@Timeout(300)
class StoreMetricsTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int ROWS = 100;
  private static TestCluster cluster;

  /** Folder in which the executor writes a file for each metric. */
  @TempDir static Path files;

  @BeforeAll
  static void start() {
    Map<String, String> sinks = new HashMap<>();
    String sink = "spark.metrics.conf.executor.sink.";
    sinks.put(sink + "jmx.class", "org.apache.spark.metrics.sink.JmxSink");
    sinks.put(sink + "csv.class", "org.apache.spark.metrics.sink.CsvSink");
    sinks.put(sink + "csv.directory", files.toString());
    sinks.put(sink + "csv.period", "1");
    sinks.put(sink + "csv.unit", "seconds");
    cluster = TestCluster.start(1, 2, 1024, sinks);
  }

  @AfterAll
  static void stop() {
    try (TestCluster last = cluster) {
      last.assertNothingLeft();
    }
  }

  @AfterEach
  void assertNothingHeld() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingHeld();
  }

  private static ResidentStore load(String name) {
    return DDStores.from(cluster.session().range(ROWS).toDF()).ranks(1).load(name);
  }

  private static void readRows(ResidentStore store, int count) {
    store.run(
        context -> {
          try (Reader reader = context.rows().reader();
              Batch batch = reader.getBatch(LongStream.range(0, count).toArray())) {
            return batch.field("id").getLong(count - 1);
          }
        });
  }

  /** The counters of rows that the executor shows as managed beans, by store and what follows. */
  private static Map<String, Long> beans() {
    return cluster.inEverySlot(rows -> beansHere()).get(0);
  }

  private static Map<String, Long> beansHere() throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    Map<String, Long> values = new TreeMap<>();
    for (ObjectName bean :
        server.queryNames(new ObjectName("metrics:name=*.ddstore.*.rows,*"), null)) {
      String name = bean.getKeyProperty("name");
      values.put(
          name.substring(name.indexOf(".ddstore.") + ".ddstore.".length()),
          (Long) server.getAttribute(bean, "Value"));
    }
    return values;
  }

  @Test
  void sinksOfAnExecutorReportItsReads() throws IOException {
    readRows(load("train"), 3);

    assertThat(beans())
        .containsEntry("train.rank0.own_process.rows", 3L)
        .containsEntry("train.rank0.remote.rows", 0L);
    await("the file of the counter")
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(lastLine(".0.ddstore.train.rank0.own_process.rows.csv")).endsWith(",3"));
  }

  /** Returns the last line of the file whose name ends with {@code ending}; empty if none. */
  private static String lastLine(String ending) throws IOException {
    try (Stream<Path> all = Files.list(files)) {
      Path file = all.filter(path -> path.toString().endsWith(ending)).findAny().orElse(null);
      List<String> lines = file == null ? List.of() : Files.readAllLines(file);
      return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }
  }

  @Test
  void dropKeepsMetricsOfAStoreWithTheSameNamePrefix() {
    ResidentStore train = load("train");
    ResidentStore validation = load("train_val");
    readRows(validation, 5);
    readRows(train, 3);
    assertThat(
            cluster
                .session()
                .sql("select sum(id) from ddstore.train") // a second reader of it
                .first()
                .getLong(0))
        .isEqualTo(ROWS * (ROWS - 1L) / 2);
    assertThat(beans())
        .containsEntry("train.rank0.own_process.rows", 3L)
        .containsEntry("train.scan.own_process.rows", (long) ROWS)
        .doesNotContainKey("train.attached.own_process.rows")
        .containsEntry("train_val.rank0.own_process.rows", 5L);

    train.drop();

    assertThat(beans())
        .as("when train has been dropped")
        .containsEntry("train_val.rank0.own_process.rows", 5L)
        .allSatisfy((name, rows) -> assertThat(name).startsWith("train_val."));
  }
}
