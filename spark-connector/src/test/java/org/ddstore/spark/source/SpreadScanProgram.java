// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;

/**
 * Scans of a store that is spread over hosts, by a user who has the runtime jar by {@code --jars}.
 * Ends with an exception if a row is not as it was; else its last line says how many of the rows
 * that one task has read came over the network.
 */
public final class SpreadScanProgram {
  private SpreadScanProgram() {}

  /** Takes the number of rows, and that of ranks. */
  public static void main(String[] arguments) {
    SparkSession spark = SparkSession.builder().getOrCreate();
    spark.sparkContext().setLogLevel("WARN");
    try {
      System.out.println(run(spark, Long.parseLong(arguments[0]), arguments[1]));
    } finally {
      spark.stop();
    }
  }

  private static String run(SparkSession spark, long rows, String ranks) {
    Dataset<Row> source = EveryType.frame(spark, rows);
    source
        .write()
        .format("ddstore")
        .option("ranks", ranks)
        .options(EveryType.writeOptions())
        .save("spread");
    Dataset<Row> back = spark.read().format("ddstore").load("spread");
    check(EveryType.differences(source, back).isEmpty(), "rows are missing or wrong");
    List<Object> expected = PlainRows.of(source.collectAsList());
    Dataset<Row> byOneTask = back.coalesce(1);
    check(PlainRows.of(byOneTask.collectAsList()).equals(expected), "rows of one task are wrong");
    Dataset<Row> some = back.where("__index in (0, 7, %d)".formatted(rows - 1));
    check(
        PlainRows.of(some.collectAsList())
            .equals(List.of(expected.get(0), expected.get(7), expected.get((int) rows - 1))),
        "rows that were looked up are wrong");
    return "equal, %d and %d rows over the network".formatted(remote(byOneTask), remote(some));
  }

  private static long remote(Dataset<Row> query) {
    SparkPlan scan = query.queryExecution().executedPlan().collectLeaves().head();
    return scan.metrics().apply(ScanMetric.RemoteRowsRead.NAME).value();
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }
}
