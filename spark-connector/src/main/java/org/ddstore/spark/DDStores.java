package org.ddstore.spark;

import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.PreflightException;

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
    Objects.requireNonNull(rows, "rows is null");
    ClassicSpark.require(rows);
    return StoreSpec.of(rows);
  }

  /**
   * The store that {@link StoreSpec#load} has made under this name in the application.
   *
   * @throws IllegalArgumentException if there is none; the message lists those there are
   */
  public static ResidentStore open(SparkSession session, String name) {
    Objects.requireNonNull(session, "session is null");
    Objects.requireNonNull(name, "name is null");
    ClassicSpark.require(session);
    SqlCatalog.register(session);
    return ResidentStores.of(session.sparkContext()).open(name);
  }

  /** The resident stores of the application, by name. */
  public static List<ResidentStore> list(SparkSession session) {
    Objects.requireNonNull(session, "session is null");
    ClassicSpark.require(session);
    SqlCatalog.register(session);
    return ResidentStores.of(session.sparkContext()).list();
  }

  /**
   * Runs an action while no other thread of the application loads, replaces or appends to the store
   * of a name: what it finds under the name is what it writes. Waits for a write in hand first,
   * {@code spark.ddstore.writeTimeout} at most. Reads and drops go on meanwhile.
   *
   * @throws IllegalArgumentException if there can be no store of this name
   * @throws org.ddstore.types.DeadlineExceededException if another thread still writes then
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
