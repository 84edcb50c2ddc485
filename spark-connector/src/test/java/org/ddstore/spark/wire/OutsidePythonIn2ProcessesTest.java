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

/** The read contract with readers in Python, which map the rows, in 2 processes. */
@Tag("system")
@Tag("slow")
@NeedsReaderTool
@NeedsPython
class OutsidePythonIn2ProcessesTest extends RowPathContract {
  OutsidePythonIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    OutsideRanks ranks = OutsideRanks.byMemory(TestRoots.sharedMemory(), ReaderTool.PYTHON_PROGRAM);
    return new ProcessRanks(ranks, List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
