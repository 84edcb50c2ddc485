// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import java.io.IOException;
import org.ddstore.contract.CheckedRanks;
import org.ddstore.contract.LargeStoreContract;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.ddstore.spark.wire.FabricBackend;
import org.junit.jupiter.api.Tag;

/** All rows by libfabric between 2 processes, over loopback, all of JNI checked. */
@NeedsFabric
@Tag("system")
class FabricIn2ProcessesTest extends LargeStoreContract {
  FabricIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new CheckedRanks(FabricBackend.of(TestRoots.sharedMemory()));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
