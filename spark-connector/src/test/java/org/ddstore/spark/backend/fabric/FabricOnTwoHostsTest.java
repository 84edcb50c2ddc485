// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.spark.wire.FabricBackend;
import org.junit.jupiter.api.Tag;

/** 3 processes on two hosts, all rows by libfabric. */
@NeedsTwoHosts
@NeedsFabric
@Tag("slow")
class FabricOnTwoHostsTest extends RowPathContract {
  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  FabricOnTwoHostsTest() {
    super(3);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return TwoHostRanks.alternating(FabricBackend.of(ROOT));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
