// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;

/** 3 processes on two hosts, authenticated and encrypted by Spark's settings. */
@Tag("slow")
@NeedsTwoHosts
class TcpEncryptedOnTwoHostsTest extends RowPathContract {
  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  TcpEncryptedOnTwoHostsTest() {
    super(3);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return TwoHostRanks.alternating(TcpBackend.guarded(ROOT));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
