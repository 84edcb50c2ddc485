// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.util.List;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** The read contract with readers in C, which read over data ports, in 2 processes. */
@Tag("system")
@NeedsReaderTool
class OutsidePortIn2ProcessesTest extends RowPathContract {
  OutsidePortIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(OutsideRanks.byPort(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
