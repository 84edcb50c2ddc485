// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.contract.RankGroupContract;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;

/** 3 processes on two hosts, plain connections. */
@NeedsTwoHosts
@Tag("slow")
class TcpOnTwoHostsTest extends RankGroupContract {
  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  TcpOnTwoHostsTest() {
    super(3);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return TwoHostRanks.alternating(TcpBackend.plain(ROOT));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
