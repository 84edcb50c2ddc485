// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.util.List;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.StoreContract;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** All rows over tcp between 2 processes, served by Java, without large records. */
@Tag("system")
@Tag("slow")
class TcpByJavaIn2ProcessesTest extends StoreContract {
  TcpByJavaIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(TcpBackend.byJava(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
