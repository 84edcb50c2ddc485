// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.StoreOptions;
import org.ddstore.memory.ProcessDirectory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Ranks as threads that talk as processes do, over files. */
@Tag("slow")
class SharedMemoryGroupInThreadsTest extends RankGroupContract {
  private Path lanes;
  private ProcessDirectory directory;

  SharedMemoryGroupInThreadsTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    lanes = TestRoots.sharedMemory();
    directory = ProcessDirectory.acquire(lanes);
    Path root = TestRoots.sharedMemory();
    StoreOptions options = StoreOptions.defaults().sharedMemory(root);
    return new ThreadRanks(options, GroupFactory.sharedMemory(directory), root);
  }

  @AfterAll
  void deleteLanes() throws IOException {
    directory.release();
    TestRoots.delete(lanes);
  }
}
