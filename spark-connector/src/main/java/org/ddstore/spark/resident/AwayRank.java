package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.types.ResidentShard;

/**
 * A rank that did not run in the executor of its shard.
 *
 * @param rank number of the rank
 * @param executorId id of the executor that ran it
 * @param why human-readable reason, as far as the driver knows it
 */
public record AwayRank(int rank, String executorId, String why) {

  /**
   * Returns these ranks of a completed run.
   *
   * @param outcomes outcomes of the run, by rank
   * @param layout layout at the start of the run
   * @param cluster current facts of the cluster
   */
  public static List<AwayRank> of(
      List<? extends RankOutcome<?>> outcomes, ResidentLayout layout, ClusterFacts cluster) {
    List<AwayRank> all = new ArrayList<>();
    for (int rank = 0; rank < outcomes.size(); rank++) {
      RankOutcome<?> outcome = outcomes.get(rank);
      if (!outcome.home()) {
        all.add(new AwayRank(rank, outcome.executorId(), why(rank, layout, cluster)));
      }
    }
    return all;
  }

  private static String why(int rank, ResidentLayout layout, ClusterFacts cluster) {
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
        ? "%s has %d slots and the rows of %d ranks".formatted(home, slots, ranksThere)
        : "%s, which has its rows, had no free slot".formatted(home);
  }

  @Override
  public String toString() {
    return "rank %d ran on executor %s, away from its shard: %s".formatted(rank, executorId, why);
  }
}
