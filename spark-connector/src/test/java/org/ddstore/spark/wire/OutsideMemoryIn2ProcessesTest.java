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

/** As {@link OutsidePythonIn2ProcessesTest}, with readers in C alone. */
@Tag("system")
@Tag("slow")
@NeedsReaderTool
class OutsideMemoryIn2ProcessesTest extends RowPathContract {
  OutsideMemoryIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(OutsideRanks.byMemory(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
