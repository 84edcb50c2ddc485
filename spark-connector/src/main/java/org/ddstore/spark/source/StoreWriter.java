package org.ddstore.spark.source;

import java.util.Optional;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
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
   * Writes. Blocks while the rows are loaded, and before while another thread writes the store.
   * What overwrites a store is loaded beside it, and takes its place when it stands: until then the
   * old rows are read, and if the load fails they stay.
   *
   * @throws IllegalArgumentException for options that do not fit, or a store that is there
   */
  static void write(String name, WriteMode mode, WriteOptions options, Dataset<Row> rows) {
    DDStores.writing(rows.sparkSession(), name, () -> writeAlone(name, mode, options, rows));
  }

  private static void writeAlone(
      String name, WriteMode mode, WriteOptions options, Dataset<Row> rows) {
    Optional<ResidentStore> existing = find(rows.sparkSession(), name);
    switch (mode) {
      case CREATE -> {
        if (existing.isPresent()) {
          throw new IllegalArgumentException(
              "a store \"%s\" is there already: drop it, or write with mode overwrite, append or ignore"
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
