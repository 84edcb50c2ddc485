// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Plural;

/**
 * The outcome of one rank of a run on a resident store, sent to the driver.
 *
 * @param result result of the user's task, may be null
 * @param home whether that executor holds the rank's shard
 * @param reads reads of the store's rows, by path
 */
public record RankOutcome<T>(T result, String executorId, boolean home, List<ReadCount> reads)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * A rank that did not run in the executor of its shard.
   *
   * @param reason human-readable reason, as far as the driver knows it
   */
  public record Misplaced(int rank, String executorId, String reason) {

    /**
     * Returns these ranks of a completed run.
     *
     * @param layout layout at the start of the run
     */
    public static List<Misplaced> of(
        List<? extends RankOutcome<?>> outcomes, ResidentLayout layout, ClusterFacts cluster) {
      List<Misplaced> all = new ArrayList<>();
      for (int rank = 0; rank < outcomes.size(); rank++) {
        RankOutcome<?> outcome = outcomes.get(rank);
        if (!outcome.home()) {
          all.add(new Misplaced(rank, outcome.executorId(), reason(rank, layout, cluster)));
        }
      }
      return all;
    }

    private static String reason(int rank, ResidentLayout layout, ClusterFacts cluster) {
      ResidentShard shard = layout.home(rank);
      String home = "executor " + shard.executorId();
      if (shard.isLost()) {
        return home + " is lost, its rows are read from another copy";
      }
      int ranksThere = Collections.frequency(layout.homes(), shard.executorId());
      int slots =
          cluster.executors().stream()
              .filter(executor -> executor.id().equals(shard.executorId()))
              .mapToInt(executor -> executor.cores() / cluster.taskCpus())
              .findAny()
              .orElse(0);
      if (slots == 0) {
        return home + " held its rows and has ended";
      }
      return ranksThere > slots
          ? "%s has %s and the rows of %d ranks"
              .formatted(home, Plural.of(slots, "slot"), ranksThere)
          : "%s, which has its rows, had no free slot".formatted(home);
    }

    @Override
    public String toString() {
      return "rank %d ran on executor %s, away from its shard: %s"
          .formatted(rank, executorId, reason);
    }
  }
}
