// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.util.List;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankGroupContract;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** All rows over tcp between 4 processes, plain connections. */
@Tag("system")
@Tag("slow")
class TcpIn4ProcessesTest extends RankGroupContract {
  TcpIn4ProcessesTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(TcpBackend.plain(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
