// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.types.Internal;

/**
 * The places at which ranks outside of Java run: each beside its shard.
 *
 * @param homes id of the executor that holds the shard of each rank, by rank
 * @param locations preferred location of the task of each rank; empty if its executor is lost
 */
@Internal
public record RankPlaces(List<String> homes, List<String> locations) {
  /** Label of the grant by which these ranks read the rows. */
  static final String GRANT = "ranks";

  /**
   * Waits until the cluster can run all ranks, and restores lost rows. Blocks.
   *
   * @param store a store of this application
   * @param attempt number of the attempt of the run, from 1
   * @throws org.ddstore.spark.types.PreflightException if the cluster cannot run the ranks
   * @throws org.ddstore.types.DDStoreException if lost rows cannot be restored
   */
  public static void prepare(ResidentStore store, long attempt) {
    store.runner().prepare(attempt);
  }

  /**
   * {@return the present places} Local.
   *
   * @param store a store of this application
   */
  public static RankPlaces now(ResidentStore store) {
    ResidentLayout layout = store.places().now();
    return new RankPlaces(layout.homes(), layout.preferredLocations());
  }

  /**
   * {@return a handle for the ranks, as one line of JSON} Opens the executors to them. Blocks.
   *
   * @param store a store of this application
   * @throws UnsupportedOperationException if {@code spark.ddstore.grants} is false
   */
  public static String handle(ResidentStore store) {
    return store.grantRanks().toJson();
  }
}
