package org.ddstore.spark;

import org.junit.jupiter.api.AfterEach;

/** Two executors, of whose stores every test drops all. */
abstract class OnResidentCluster extends OnTwoExecutors {
  @AfterEach
  void dropAll() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
  }
}
