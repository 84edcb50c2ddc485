package org.ddstore.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Where a Spark program begins: stores made of DataFrames. */
public final class DDStores {
  private DDStores() {}

  /**
   * The plan of a store that holds the rows of {@code rows}. Nothing is read yet.
   *
   * @param rows of a classic Spark session; a Spark Connect one is refused
   * @throws PreflightException if this Spark is none that a store runs on
   */
  public static StoreSpec from(Dataset<Row> rows) {
    ClassicSpark.require(rows);
    return StoreSpec.of(rows);
  }
}
