// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import java.nio.file.Path;
import java.time.Duration;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.mpi.NeedsMpi;
import org.junit.jupiter.api.Tag;

/** 2 processes on two hosts, all rows by MPI: those of the other rank cross the network. */
@NeedsTwoHosts
@NeedsMpi
@Tag("slow")
class MpiOnTwoHostsTest extends RowPathContract {
  /** With more ranks than cores, which all poll, the contract takes a minute and a half. */
  private static final int RANKS = 2;

  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  MpiOnTwoHostsTest() {
    super(RANKS);
  }

  /** The processes become one world. */
  @Override
  protected RankHarness createHarness() throws Exception {
    TwoHostRanks ranks = TwoHostRanks.alternating(MpiBackend.of(ROOT));
    try {
      ranks.run(RANKS, Duration.ofMinutes(1), rank -> rank.group().barrier());
      return ranks;
    } catch (Exception e) {
      try (ranks) {
        throw e;
      }
    }
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }

  /** A window is made by all ranks of a store. */
  @Override
  public boolean readsSingleShards() {
    return false;
  }
}
