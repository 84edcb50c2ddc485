// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;

/** 2 processes, shards in files on a disk. */
@Tag("system")
class FileIn2ProcessesTest extends LargeStoreContract {
  FileIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(Backing.FILE, TestRoots.onDisk());
  }
}
