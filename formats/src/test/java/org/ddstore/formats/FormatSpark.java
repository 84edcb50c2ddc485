// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.nio.file.Path;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.StrictKryo;

/**
 * The Spark that the tests of this JVM share: {@code local[4]}, enough slots for four ranks, with
 * the serializer that rejects most.
 */
public final class FormatSpark {
  private static SparkSession session;

  private FormatSpark() {}

  public static synchronized SparkSession session() {
    if (session == null) {
      SparkSession.Builder builder = SparkSession.builder();
      StrictKryo.SETTINGS.forEach(builder::config);
      session =
          builder
              .master("local[4]")
              .appName("format tests")
              .config("spark.ui.enabled", "false")
              .config("spark.sql.shuffle.partitions", "2")
              .config(
                  "spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
              .getOrCreate();
      session.sparkContext().setLogLevel("OFF");
    }
    return session;
  }

  /** Reads a file, a folder or a pattern with options, each a key and its value. */
  public static Dataset<Row> read(String format, Path path, String... options) {
    DataFrameReader reader = session().read().format(format);
    for (int i = 0; i < options.length; i += 2) {
      reader.option(options[i], options[i + 1]);
    }
    return reader.load(path.toString());
  }
}
