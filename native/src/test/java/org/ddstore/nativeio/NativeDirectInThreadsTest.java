// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.io.IOException;
import org.ddstore.StoreOptions;
import org.ddstore.contract.GroupFactory;
import org.ddstore.contract.LargeStoreContract;
import org.ddstore.contract.Needed;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.ThreadRanks;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, shards in direct buffers, rows copied by the kernel in C. */
@Tag("slow")
class NativeDirectInThreadsTest extends LargeStoreContract {
  NativeDirectInThreadsTest() {
    super(3);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    StoreOptions options = StoreOptions.defaults().backing(Backing.DIRECT);
    return new ThreadRanks(options, GroupFactory.local(), TestRoots.onDisk());
  }
}
