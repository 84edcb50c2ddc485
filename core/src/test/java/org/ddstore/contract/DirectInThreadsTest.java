// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import org.ddstore.StoreOptions;
import org.ddstore.types.Backing;

/** Ranks as threads, shards in direct buffers. */
class DirectInThreadsTest extends LargeStoreContract {
  DirectInThreadsTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    StoreOptions options = StoreOptions.defaults().backing(Backing.DIRECT);
    return new ThreadRanks(options, GroupFactory.local(), TestRoots.onDisk());
  }
}
