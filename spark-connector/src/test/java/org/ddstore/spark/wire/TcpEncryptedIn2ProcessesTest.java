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

/**
 * Collectives over tcp between 2 processes, authenticated and encrypted by Spark's settings. {@link
 * SparkNetworkIn2ProcessesTest} runs the whole contract on the same path without encryption, and
 * {@link TcpEncryptedOnTwoHostsTest} covers the row path.
 */
@Tag("system")
@Tag("slow")
class TcpEncryptedIn2ProcessesTest extends RankGroupContract {
  TcpEncryptedIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(TcpBackend.guarded(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
