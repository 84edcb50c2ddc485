// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.ddstore.spark.resident.VirtualCluster.Executor;
import org.ddstore.spark.resident.VirtualTime.Violation;
import org.junit.jupiter.api.Test;

/**
 * Loads, appends, replacements, repairs, drops, reads and revocations in virtual time, while
 * messages are late, lost and repeated, and processes are paused, killed and decommissioned. A seed
 * decides everything: {@code -Dddstore.simulation.seed=N} replays one, and {@code
 * -Dddstore.simulation.seeds=N} runs more.
 */
class SimulationTest {
  private static final long FIRST = Long.getLong("ddstore.simulation.first", 0);
  private static final int SEEDS = Integer.getInteger("ddstore.simulation.seeds", 20_000);
  private static final int FAULTS_END_MS = 600_000;

  /** The run of one seed. */
  private static final class Run {
    private final VirtualTime time;
    private final VirtualStores stores;
    private final VirtualCluster cluster;

    Run(long seed, boolean isTraced) {
      time = new VirtualTime(seed, isTraced);
      stores = new VirtualStores(time, time.between(2, 6));
      cluster = stores.cluster();
    }

    void run() {
      VirtualTime.Node user = new VirtualTime.Node();
      time.after(0, user, () -> stores.load("a", time.between(1, 4), time.between(1, 3)));
      for (int i = time.between(3, 16); i > 0; i--) {
        time.after(time.between(1_000, FAULTS_END_MS / 2), user, this::operate);
      }
      for (int i = time.between(0, 10); i > 0; i--) {
        time.after(time.between(1, FAULTS_END_MS), user, this::disturb);
      }
      time.after(FAULTS_END_MS, user, cluster::heal);
      time.run(stores::check);
      stores.repairAll();
      time.run(stores::check);
      stores.checkEnd();
    }

    private void operate() {
      String name = time.chance(0.7) ? "a" : "b";
      switch (time.between(0, 10)) {
        case 0, 1 -> stores.load(name, time.between(1, 4), time.between(1, 3));
        case 2, 3, 4 -> stores.append(name);
        case 5 -> stores.repair(name);
        case 6 -> stores.drop(name);
        case 7 -> stores.grant(name);
        case 8 -> stores.revoke(name, time.chance(0.5) ? "x" : "y");
        default -> stores.read(name);
      }
    }

    private void disturb() {
      List<Executor> alive = cluster.alive();
      switch (time.between(0, 10)) {
        case 0, 1, 2 -> {
          if (!alive.isEmpty()) {
            cluster.kill(time.one(alive));
          }
        }
        case 3 -> {
          if (!alive.isEmpty()) {
            cluster.decommission(time.one(alive));
          }
        }
        case 4, 5 -> cluster.pause(cluster.driver(), time.between(100, 100_000));
        default -> {
          if (!alive.isEmpty()) {
            cluster.pause(time.one(alive), time.between(100, 150_000));
          }
        }
      }
    }
  }

  /** Returns the number of changes that a seed has committed. */
  private static int run(long seed) {
    Run run = new Run(seed, false);
    try {
      run.run();
      return run.stores.committed();
    } catch (Violation | RuntimeException e) {
      throw new AssertionError(describe(seed), e);
    }
  }

  /** Runs a seed again and returns its timeline, which ends with the failure. */
  private static String describe(long seed) {
    Run again = new Run(seed, true);
    String failure = "nothing: a run is not decided by its seed";
    try {
      again.run();
    } catch (Violation | RuntimeException e) {
      failure = e.toString();
    }
    return "seed %d:%n%s%n%s"
        .formatted(seed, String.join(System.lineSeparator(), again.time.timeline()), failure);
  }

  @Test
  void everySeedKeepsTheInvariants() {
    Long only = Long.getLong("ddstore.simulation.seed");
    if (only != null) {
      System.out.println(describe(only)); // NOPMD
      run(only);
      return;
    }
    long committed = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      committed += run(seed);
    }
    assertThat(committed).as("committed changes").isGreaterThan(SEEDS);
  }
}
