package org.ddstore.spark;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Two executors with two slots each for a whole class, whose every test drops all stores. */
abstract class OnResidentCluster {
  static TestCluster cluster;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(2, 2, 1024);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void nothingIsLeft() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingLeft();
  }
}
