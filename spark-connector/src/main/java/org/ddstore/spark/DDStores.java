// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.dump.DumpDirectory;
import org.ddstore.spark.dump.DumpSource;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.InvalidDumpException;
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
   * {@return the specification of a store of the rows of a dump} Reads the manifest and the lengths
   * of the data files on the driver; the rows are read when the store is loaded.
   *
   * @param session session of the application; it must be classic, not a Spark Connect session
   * @param path directory that was given to {@link ResidentStore#dump(String)}
   * @throws InvalidDumpException if the path does not exist or has no complete dump; see {@link
   *     InvalidDumpException#problem()}
   * @throws DumpException if the file system fails
   * @throws IllegalArgumentException if the path is blank
   * @throws IllegalStateException if the application of the session has ended
   * @throws PreflightException if stores cannot run on this Spark installation
   */
  public static RestoreSpec restore(SparkSession session, String path) {
    Objects.requireNonNull(session, "session is null");
    Objects.requireNonNull(path, "path is null");
    ClassicSpark.require(session);
    return RestoreSpec.of(session, DumpSource.open(DumpDirectory.of(session, path)));
  }

  /**
   * Runs a task on every rank, as {@link ResidentStore#run} does, in which each rank reads the rows
   * of several stores, such as training and test rows: {@link RankContext#rows(String)} and {@link
   * RankContext#loader(String, org.ddstore.sampling.BatchSampler,
   * org.ddstore.loader.LoaderOptions)} take the name of a store. The ranks are those of the first
   * store: they run beside its shards, and {@link RankContext#rows()} are its rows. Restores lost
   * rows of all stores first.
   *
   * @param <T> type of the results
   * @param stores different stores of one application with the same number of ranks, at least one
   * @param task a serializable task
   * @return the results of all ranks, in rank order
   * @throws IllegalArgumentException if the stores do not fit each other, or the task is not
   *     serializable; the message names the stores
   * @throws IllegalStateException if a store has been dropped
   * @throws org.ddstore.spark.types.StoreJobException if the last attempt failed; its cause is the
   *     exception of a rank
   */
  public static <T> List<T> run(List<ResidentStore> stores, RankTask<T> task) {
    UserTaskBody.checkSerializable(task);
    return StoresRun.of(stores).run(task);
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
