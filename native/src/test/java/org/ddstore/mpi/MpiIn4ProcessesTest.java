// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import org.ddstore.contract.RankGroupContract;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** All rows by MPI between 4 processes. */
@Tag("system")
@NeedsMpi
@Tag("slow")
class MpiIn4ProcessesTest extends RankGroupContract {

  MpiIn4ProcessesTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws Exception {
    return MpiBackend.world(
        4, TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
