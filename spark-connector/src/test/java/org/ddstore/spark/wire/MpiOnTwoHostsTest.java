package org.ddstore.spark.wire;

import java.nio.file.Path;
import java.time.Duration;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.mpi.NeedsMpi;

/**
 * 2 processes on two hosts, in a world of 4: all rows by MPI, those of the other rank between
 * hosts.
 */
@NeedsTwoHosts
@NeedsMpi
class MpiOnTwoHostsTest extends RowPathContract {
  /** Some scenarios of the contract have this number of ranks. */
  private static final int WORLD = 4;

  /** More of them than cores poll so much that the contract takes a minute and a half. */
  private static final int RANKS = 2;

  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  MpiOnTwoHostsTest() {
    super(RANKS);
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
