package org.ddstore.cli;

import java.util.Locale;

/** A way to give each rank its batches of an epoch. */
enum EpochWay {
  /** Batches of the store, read one after the other by a thread that does nothing else. */
  GATHER("raw gather"),
  /** The loader, with a consumer that does nothing. */
  LOADER("loader"),
  /** Rows copied out of one file that is mapped. */
  MAPPED("memory-mapped file"),
  /** A file for each row, opened and read. */
  FILES("file per row"),
  /** A Spark job that joins the order with Parquet, sorts by it and makes batches. */
  PARQUET("Parquet by Spark");

  private final String words;

  EpochWay(String words) {
    this.words = words;
  }

  /** For people. */
  String words() {
    return words;
  }

  /** For options and JSON. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
