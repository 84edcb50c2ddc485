// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import org.ddstore.contract.LargeStoreContract;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** All rows by MPI between 2 processes of a world of 4. */
@Tag("system")
@NeedsMpi
class MpiIn2ProcessesTest extends LargeStoreContract {
  private static final int WORLD = 4;

  MpiIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws Exception {
    return MpiBackend.world(
        WORLD, TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }

  @Override
  public boolean readsSingleShards() {
    return false;
  }
}
