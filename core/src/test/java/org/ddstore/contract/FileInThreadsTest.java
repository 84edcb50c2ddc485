// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.StoreOptions;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, shards in files on a disk. */
@Tag("slow")
class FileInThreadsTest extends RowPathContract {
  FileInThreadsTest() {
    super(3);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Path root = TestRoots.onDisk();
    StoreOptions options = StoreOptions.defaults().files(root);
    return new ThreadRanks(options, GroupFactory.local(), root);
  }
}
