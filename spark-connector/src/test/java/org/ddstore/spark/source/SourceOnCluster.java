// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Base of tests of stores as tables: a cluster for the whole class, which the class starts by
 * {@link #start}, a check for leftovers after each test, and inspection of queries.
 */
public abstract class SourceOnCluster {
  /** Number of rows of {@link #labelled()}. */
  public static final int LABELLED = 1_000;

  public static TestCluster cluster;

  public final SparkSession spark = cluster.session();

  /** Plans are run as they are shown, so that metrics of scans are found in them. */
  public static void start(int executors, int coresEach) {
    cluster =
        TestCluster.shared(
            executors,
            coresEach,
            Map.of("spark.sql.adaptive.enabled", "false", "spark.sql.shuffle.partitions", "4"));
  }

  @AfterAll
  public static void stop() {
    try (TestCluster last = cluster) {
      last.assertNothingLeft();
    }
  }

  /** A method that failed may have left stores, and threads that make more of them. */
  @BeforeEach
  public void dropStoresOfOtherTests() {
    DDStores.list(spark).forEach(ResidentStore::drop);
  }

  @AfterEach
  public void dropAll() {
    DDStores.list(spark).forEach(ResidentStore::drop);
    cluster.assertNothingHeld();
  }

  public final Dataset<Row> labelled() {
    return spark
        .range(LABELLED)
        .selectExpr("id", "cast(id % 7 as int) as label", "cast(id as float) as value");
  }

  public final Dataset<Row> read(String store) {
    return spark.read().format("ddstore").load(store);
  }

  public static void assertSame(Dataset<Row> actual, Dataset<Row> expected) {
    assertThat(counts(actual)).as("rows, and the number of each").isEqualTo(counts(expected));
  }

  /** One job without a shuffle, of which exceptAll would have several. */
  private static Map<Object, Long> counts(Dataset<Row> rows) {
    return PlainRows.of(rows.collectAsList()).stream()
        .collect(Collectors.groupingBy(row -> row, Collectors.counting()));
  }

  /** The metric of the only scan of a store, after the query has run. */
  public static long metric(Dataset<Row> query, String name) {
    SparkPlan scan = query.queryExecution().executedPlan().collectLeaves().head();
    SQLMetric metric = scan.metrics().apply(name);
    return metric.value();
  }
}
