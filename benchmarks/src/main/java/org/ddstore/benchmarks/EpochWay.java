// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.Locale;

/** A way to deliver the batches of an epoch to each rank. */
enum EpochWay {
  /** Batches of the store, read one by one by a dedicated thread. */
  GATHER("raw gather"),
  /** The loader, with a consumer that does nothing. */
  LOADER("loader"),
  /** Rows copied from one memory-mapped file. */
  MAPPED("memory-mapped file"),
  /** One file per row, opened and read. */
  FILES("file per row"),
  /** A Spark job that joins the order with Parquet files, sorts by it and builds batches. */
  PARQUET("Parquet by Spark"),
  /** The same with rows that Spark keeps in the memory of its executors. */
  CACHE("Spark's cache");

  boolean isOfSpark() {
    return this == PARQUET || this == CACHE;
  }

  private final String words;

  EpochWay(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }

  /** Returns the name used in options and JSON. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
