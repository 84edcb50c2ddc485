package org.ddstore.spark.wire;

import java.nio.file.Path;
import java.time.Duration;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.StoreContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.mpi.NeedsMpi;

/** 4 processes on two hosts, all rows by MPI. */
@NeedsTwoHosts
@NeedsMpi
class MpiOnTwoHostsTest extends StoreContract {
  private static final int WORLD = 4;
  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  MpiOnTwoHostsTest() {
    super(WORLD);
  }

  /** The processes become one world, of which scenarios use as many as they want. */
  @Override
  protected RankHarness createHarness() throws Exception {
    TwoHostRanks ranks = TwoHostRanks.alternating(MpiBackend.of(ROOT));
    try {
      ranks.run(WORLD, Duration.ofMinutes(1), rank -> rank.group().barrier());
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
