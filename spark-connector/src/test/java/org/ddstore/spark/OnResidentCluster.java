// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.time.Duration;
import java.util.List;
import org.ddstore.spark.types.ExecutorStatistics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two executors, of whose stores every test drops all. */
public abstract class OnResidentCluster extends OnTwoExecutors {
  /** A method that failed may have left stores. */
  @BeforeEach
  protected void dropStoresOfOtherTests() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
  }

  /** The executors of a store, when all that answer within a second have reported once more. */
  protected static List<ExecutorStatistics> refreshed(ResidentStore store) {
    store.reports().refresh(Duration.ofSeconds(1)).join();
    return store.lastStatistics().executors();
  }

  @AfterEach
  protected void dropAll() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
  }
}
