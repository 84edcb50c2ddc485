package org.ddstore.cli;

import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.StoreSpec;

/**
 * The demo without its words: asks Spark SQL, loads a store, reads it on every rank.
 *
 * @param files the rows as Spark SQL sees them, a plain read of files
 * @param leaves their columns
 * @param orderBy as in {@code spec}
 * @param spec the store
 */
record DemoRun(Dataset<Row> files, List<Leaf> leaves, List<String> orderBy, StoreSpec spec) {

  /** What Spark SQL says. */
  ExpectedRows ask(long seed) {
    return RowOracle.ask(files, leaves, orderBy, seed);
  }

  /**
   * Loads, reads and compares, then reads against the clock.
   *
   * @param speedNanos duration of the reads against the clock, of all ranks together
   */
  DemoResult read(ExpectedRows expected, int batchRows, long seed, long speedNanos) {
    Broadcast<ExpectedRows> sent =
        JavaSparkContext.fromSparkContext(files.sparkSession().sparkContext()).broadcast(expected);
    try {
      return new DemoResult(
          expected.rows(), spec.run(new DemoTask(sent, leaves, batchRows, seed, speedNanos)));
    } finally {
      sent.destroy();
    }
  }
}
