// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two executors, of whose stores every test drops all. */
public abstract class OnResidentCluster extends OnTwoExecutors {
  /** A method that failed may have left stores. */
  @BeforeEach
  protected void dropStoresOfOtherTests() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
  }

  @AfterEach
  protected void dropAll() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
  }
}
