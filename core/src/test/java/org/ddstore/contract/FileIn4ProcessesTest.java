// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;

/** 4 processes, shards in files on a disk. */
@Tag("system")
@Tag("slow")
class FileIn4ProcessesTest extends RankGroupContract {
  FileIn4ProcessesTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(Backing.FILE, TestRoots.onDisk());
  }
}
