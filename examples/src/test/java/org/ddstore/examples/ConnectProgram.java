// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.DDStores;

/** A program whose class path has the client of Spark Connect only. */
final class ConnectProgram {
  private ConnectProgram() {}

  public static void main(String[] arguments) {
    SparkSession spark = SparkSession.builder().remote("sc://127.0.0.1:9").getOrCreate();
    DDStores.from(spark.range(10).toDF());
  }
}
