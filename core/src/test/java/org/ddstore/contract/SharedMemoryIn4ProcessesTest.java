// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;

/** 4 processes, shards in shared memory. */
@Tag("system")
@Tag("slow")
class SharedMemoryIn4ProcessesTest extends RankGroupContract {
  SharedMemoryIn4ProcessesTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(Backing.SHM, TestRoots.sharedMemory());
  }
}
