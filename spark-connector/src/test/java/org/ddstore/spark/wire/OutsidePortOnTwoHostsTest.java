// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;

/** The read contract with readers in C, over data ports of two hosts. */
@Tag("slow")
@NeedsTwoHosts
@NeedsReaderTool
class OutsidePortOnTwoHostsTest extends RowPathContract {
  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  OutsidePortOnTwoHostsTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return TwoHostRanks.alternating(OutsideRanks.byPort(ROOT));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
