// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.StoreSpec;

/**
 * The demo without its report: queries Spark SQL, loads a store, and reads it on every rank.
 *
 * @param files rows as Spark SQL sees them, from a plain read of files
 * @param leaves columns of {@code files}
 * @param orderBy the order of {@code spec}
 * @param spec spec of the store
 */
record DemoRun(Dataset<Row> files, List<Leaf> leaves, List<String> orderBy, StoreSpec spec) {

  /** Queries Spark SQL for the expected rows. */
  ExpectedRows ask(long seed) {
    return RowOracle.ask(files, leaves, orderBy, seed);
  }

  /**
   * Loads, reads and compares the rows, then times reads.
   *
   * @param speedNanos total duration of the timed reads of all ranks, in nanoseconds
   */
  DemoResult read(ExpectedRows expected, int batchRows, long seed, long speedNanos) {
    ExpectedRows.Sent sent =
        expected.send(JavaSparkContext.fromSparkContext(files.sparkSession().sparkContext()));
    try {
      return new DemoResult(
          expected.rows(), spec.run(new DemoTask(sent, leaves, batchRows, seed, speedNanos)));
    } finally {
      sent.destroy();
    }
  }
}
