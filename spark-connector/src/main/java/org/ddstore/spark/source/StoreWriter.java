// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Optional;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;

/** A writer of DataFrames into resident stores by the common load. Runs on the driver. */
final class StoreWriter {
  private StoreWriter() {}

  static Optional<ResidentStore> find(SparkSession session, String name) {
    return DDStores.list(session).stream().filter(store -> store.name().equals(name)).findAny();
  }

  /**
   * Writes rows. Blocks while another thread writes the store, and while the rows are loaded. An
   * overwrite loads the new rows beside the existing store and then replaces it: until then reads
   * return the old rows, which remain if the load fails.
   *
   * @throws IllegalArgumentException if options do not fit, if the store exists in mode CREATE, or
   *     if the cluster or the rows do not fit: PySpark shows its message without a stack of Java
   */
  static void write(String name, WriteMode mode, WriteOptions options, Dataset<Row> rows) {
    try {
      DDStores.writing(rows.sparkSession(), name, () -> writeAlone(name, mode, options, rows));
    } catch (PreflightException | IngestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static void writeAlone(
      String name, WriteMode mode, WriteOptions options, Dataset<Row> rows) {
    Optional<ResidentStore> existing = find(rows.sparkSession(), name);
    switch (mode) {
      case CREATE -> {
        if (existing.isPresent()) {
          throw new IllegalArgumentException(
              "store \"%s\" already exists: drop it, or write with mode overwrite, append or ignore"
                  .formatted(name));
        }
        options.spec(rows).load(name);
      }
      case IGNORE -> {
        if (existing.isEmpty()) {
          options.spec(rows).load(name);
        }
      }
      case OVERWRITE -> {
        if (existing.isPresent() && options.isPlain() && hasColumnsOf(existing.get(), rows)) {
          existing.get().replace(rows);
        } else {
          options.spec(rows).replace(name);
        }
      }
      case REPLACE -> options.spec(rows).replace(name);
      case APPEND -> {
        if (existing.isEmpty()) {
          options.spec(rows).load(name);
        } else {
          append(existing.get(), options, rows);
        }
      }
    }
  }

  private static boolean hasColumnsOf(ResidentStore store, Dataset<Row> rows) {
    return DataType.equalsIgnoreNullability(store.sourceSchema(), rows.schema());
  }

  /** Appends rows; a store keeps the options with which it was loaded. */
  private static void append(ResidentStore store, WriteOptions options, Dataset<Row> rows) {
    if (!options.isPlain()) {
      throw new IllegalArgumentException(
          "an append to store \"%s\" uses the options of its load: remove the write options"
              .formatted(store.name()));
    }
    store.append(rows);
  }
}
