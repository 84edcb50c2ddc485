// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.StoreOptions;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, shards in shared memory. */
@Tag("slow")
class SharedMemoryInThreadsTest extends RowPathContract {
  SharedMemoryInThreadsTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Path root = TestRoots.sharedMemory();
    StoreOptions options = StoreOptions.defaults().sharedMemory(root);
    return new ThreadRanks(options, GroupFactory.local(), root);
  }
}
