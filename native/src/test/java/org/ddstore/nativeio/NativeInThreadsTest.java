// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.StoreOptions;
import org.ddstore.contract.GroupFactory;
import org.ddstore.contract.Needed;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.ThreadRanks;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, shards in shared memory, rows copied by the kernel in C. */
@Tag("slow")
class NativeInThreadsTest extends RowPathContract {
  NativeInThreadsTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    Path root = TestRoots.sharedMemory();
    StoreOptions options = StoreOptions.defaults().sharedMemory(root);
    return new ThreadRanks(options, GroupFactory.local(), root);
  }
}
