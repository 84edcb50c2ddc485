// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.PreflightException;

/** The entry point of the connector: builds stores from DataFrames and opens resident stores. */
public final class DDStores {
  private DDStores() {}

  /**
   * {@return the specification of a store of a DataFrame} Reads no rows.
   *
   * @param rows the DataFrame to load; it must belong to a classic Spark session, not to a Spark
   *     Connect session
   * @throws PreflightException if stores cannot run on this Spark installation
   */
  public static StoreSpec from(Dataset<Row> rows) {
    Objects.requireNonNull(rows, "rows is null");
    ClassicSpark.require(rows);
    return StoreSpec.of(rows);
  }

  /**
   * {@return the resident store that {@link StoreSpec#load} created under this name in the
   * application}
   *
   * @param session session of the application
   * @param name name of a store
   * @throws IllegalArgumentException if no store has this name; the message lists the known names
   */
  public static ResidentStore open(SparkSession session, String name) {
    Objects.requireNonNull(session, "session is null");
    Objects.requireNonNull(name, "name is null");
    ClassicSpark.require(session);
    SqlCatalog.register(session);
    return ResidentStores.of(session.sparkContext()).open(name);
  }

  /**
   * {@return the resident stores of the application, in the order of their names}
   *
   * @param session session of the application
   */
  public static List<ResidentStore> list(SparkSession session) {
    Objects.requireNonNull(session, "session is null");
    ClassicSpark.require(session);
    SqlCatalog.register(session);
    return ResidentStores.of(session.sparkContext()).list();
  }

  /**
   * Runs an action while no other thread of the application loads, replaces or appends to the store
   * of this name, so that the action writes the same store that it looked up. First waits for a
   * write in progress, for at most {@code spark.ddstore.writeTimeout}. Does not block reads or
   * drops.
   *
   * @param session session of the application
   * @param name name of a store
   * @param action action that writes the store
   * @throws IllegalArgumentException if the name is not a legal store name
   * @throws org.ddstore.types.DeadlineExceededException if another write is still in progress after
   *     the timeout
   * @throws org.ddstore.types.DDStoreException if the thread is interrupted while it waits
   */
  public static void writing(SparkSession session, String name, Runnable action) {
    Objects.requireNonNull(session, "session is null");
    Objects.requireNonNull(name, "name is null");
    Objects.requireNonNull(action, "action is null");
    ClassicSpark.require(session);
    ResidentStores.of(session.sparkContext())
        .writing(
            name,
            Settings.of(session).writeTimeout(),
            () -> {
              action.run();
              return null;
            });
  }
}
