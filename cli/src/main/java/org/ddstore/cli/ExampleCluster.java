// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.EmbeddedSpark;

/**
 * A local Spark application for examples, with executors of one slot each and the data of the demo.
 * Executors use the class path of this JVM. Owned by the caller; {@link #close()} deletes its
 * files.
 */
public final class ExampleCluster implements AutoCloseable {
  private static final int EXECUTOR_MEMORY_MB = 1024;

  private final EmbeddedSpark spark;

  private ExampleCluster(EmbeddedSpark spark) {
    this.spark = spark;
  }

  /**
   * Starts Spark and returns before its executors have registered. Requires {@code SPARK_HOME},
   * which the launcher sets.
   */
  public static ExampleCluster start(String name, int executors) {
    return new ExampleCluster(
        EmbeddedSpark.open("ddstore example " + name, executors, 1, EXECUTOR_MEMORY_MB));
  }

  public SparkSession session() {
    return spark.session();
  }

  /**
   * Writes a Parquet data set, which depends only on the number of rows, and returns it as a
   * DataFrame with {@code id}, {@code image} (28 x 28 bytes: a disc on noise), {@code label} (0 to
   * 9, growing with the disc) and other columns. Blocks.
   */
  public Dataset<Row> images(long rows) throws IOException {
    Path directory = scratch("images").resolve("rows.parquet");
    DemoData.write(session(), directory, rows, 42);
    return session().read().parquet(directory.toUri().toString());
  }

  /**
   * Creates a directory that the executors reach, deleted by {@link #close()} or when the JVM
   * exits.
   *
   * @throws IllegalStateException if executors can be on other hosts
   */
  public Path scratch(String name) throws IOException {
    return spark.scratch(name);
  }

  /** Stops Spark and waits for the executors to end. Idempotent. */
  @Override
  public void close() {
    spark.close();
  }

  @Override
  public String toString() {
    return "ExampleCluster[%s]".formatted(spark);
  }
}
