// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;

/** 2 processes, shards in shared memory. */
@Tag("system")
class SharedMemoryIn2ProcessesTest extends LargeStoreContract {
  SharedMemoryIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(Backing.SHM, TestRoots.sharedMemory());
  }

  @Override
  protected boolean optimisesCode() {
    return true;
  }
}
