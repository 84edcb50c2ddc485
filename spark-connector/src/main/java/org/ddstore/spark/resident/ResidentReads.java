package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.ReadStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.types.ReadPath;

/** What ranks have read of a resident store in its runs, and where they ran the last time. */
public final class ResidentReads {
  private final List<List<ReadCount>> byRank = new ArrayList<>(); // guarded by this
  private List<AwayRank> away = List.of(); // guarded by this

  public ResidentReads(int ranks) {
    List<ReadCount> none =
        Arrays.stream(ReadPath.values())
            .map(path -> ReadCount.of(ReadStatistics.none(path)))
            .toList();
    for (int rank = 0; rank < ranks; rank++) {
      byRank.add(none);
    }
  }

  /**
   * Takes the outcomes of a run.
   *
   * @param outcomes by rank
   * @param ranAway those that were not where their shards are
   */
  public synchronized void add(List<? extends RankOutcome<?>> outcomes, List<AwayRank> ranAway) {
    away = List.copyOf(ranAway);
    for (int rank = 0; rank < outcomes.size(); rank++) {
      RankOutcome<?> outcome = outcomes.get(rank);
      List<ReadCount> sum = new ArrayList<>();
      for (int path = 0; path < outcome.reads().size(); path++) {
        sum.add(byRank.get(rank).get(path).plus(outcome.reads().get(path)));
      }
      byRank.set(rank, List.copyOf(sum));
    }
  }

  /** How many ranks. */
  synchronized int ranks() {
    return byRank.size();
  }

  /** What one of them has read, by path. */
  synchronized List<ReadStatistics> ofRank(int rank) {
    return byRank.get(rank).stream().map(ReadCount::statistics).toList();
  }

  public synchronized List<List<ReadCount>> byRank() {
    return List.copyOf(byRank);
  }

  /** The ranks of the last run that were not where their shards are. */
  public synchronized List<AwayRank> away() {
    return away;
  }
}
