// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.io.IOException;
import org.ddstore.contract.CheckedRanks;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.LargeStoreContract;
import org.ddstore.contract.Needed;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;

/** 2 processes, shards in shared memory, rows copied by the kernel in C, all of JNI checked. */
@Tag("system")
class NativeIn2ProcessesTest extends LargeStoreContract {
  NativeIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    return new CheckedRanks(
        new FilesBackend(
            Backing.SHM, TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString()));
  }

  @Override
  protected boolean optimisesCode() {
    return true;
  }
}
