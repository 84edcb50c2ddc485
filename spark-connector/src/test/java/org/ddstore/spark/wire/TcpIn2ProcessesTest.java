// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.util.List;
import org.ddstore.contract.LargeStoreContract;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** All rows over tcp between 2 processes, plain connections. */
@Tag("system")
class TcpIn2ProcessesTest extends LargeStoreContract {
  TcpIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(TcpBackend.plain(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }

  @Override
  protected boolean optimisesCode() {
    return true;
  }
}
