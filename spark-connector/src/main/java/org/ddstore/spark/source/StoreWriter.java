package org.ddstore.spark.source;

import java.util.Optional;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;

/** Writes DataFrames into resident stores: by the same load as all stores have. On the driver. */
final class StoreWriter {
  private StoreWriter() {}

  /** The store of a name, if there is one. */
  static Optional<ResidentStore> find(SparkSession session, String name) {
    return DDStores.list(session).stream().filter(store -> store.name().equals(name)).findAny();
  }

  /**
   * Writes. Blocks while the rows are loaded. What overwrites a store is loaded beside it, and
   * takes its place when it stands: until then the old rows are read, and if the load fails they
   * stay.
   *
   * @throws IllegalArgumentException for options that do not fit, or a store that is there
   */
  static void write(String name, SaveMode mode, WriteOptions options, Dataset<Row> rows) {
    Optional<ResidentStore> existing = find(rows.sparkSession(), name);
    switch (mode) {
      case ErrorIfExists -> {
        if (existing.isPresent()) {
          throw new IllegalArgumentException(
              "a store \"%s\" is there already: drop it, or write with mode overwrite, append or ignore"
                  .formatted(name));
        }
        options.spec(rows).load(name);
      }
      case Ignore -> {
        if (existing.isEmpty()) {
          options.spec(rows).load(name);
        }
      }
      case Overwrite -> options.spec(rows).replace(name);
      case Append -> {
        if (existing.isEmpty()) {
          options.spec(rows).load(name);
        } else {
          append(existing.get(), options, rows);
        }
      }
    }
  }

  /** A store keeps the options with which it was made. */
  private static void append(ResidentStore store, WriteOptions options, Dataset<Row> rows) {
    if (!options.isPlain()) {
      throw new IllegalArgumentException(
          "rows are appended to store \"%s\" with the options that it was loaded with: give none"
              .formatted(store.name()));
    }
    store.append(rows);
  }
}
