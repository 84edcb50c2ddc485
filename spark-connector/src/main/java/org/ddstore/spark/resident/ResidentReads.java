// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.ddstore.ReadStatistics;
import org.ddstore.spark.types.ReadCount;

/**
 * The reads of all ranks in the runs on a resident store, and the misplaced ranks of the last run.
 */
public final class ResidentReads {
  private final List<List<ReadCount>> byRank = new ArrayList<>(); // guarded by this
  private List<RankOutcome.Misplaced> misplaced = List.of(); // guarded by this

  public ResidentReads(int ranks) {
    byRank.addAll(Collections.nCopies(ranks, ReadCount.none()));
  }

  /**
   * Adds the outcomes of a run.
   *
   * @param misplaced ranks that did not run in the executors of their shards
   */
  public synchronized void add(
      List<? extends RankOutcome<?>> outcomes, List<RankOutcome.Misplaced> misplaced) {
    this.misplaced = List.copyOf(misplaced);
    for (int rank = 0; rank < outcomes.size(); rank++) {
      RankOutcome<?> outcome = outcomes.get(rank);
      List<ReadCount> sum = new ArrayList<>();
      for (int path = 0; path < outcome.reads().size(); path++) {
        sum.add(byRank.get(rank).get(path).plus(outcome.reads().get(path)));
      }
      byRank.set(rank, List.copyOf(sum));
    }
  }

  synchronized int ranks() {
    return byRank.size();
  }

  synchronized List<ReadStatistics> ofRank(int rank) {
    return byRank.get(rank).stream().map(ReadCount::statistics).toList();
  }

  public synchronized List<List<ReadCount>> byRank() {
    return List.copyOf(byRank);
  }

  /** Returns the ranks of the last run that did not run in the executors of their shards. */
  public synchronized List<RankOutcome.Misplaced> misplaced() {
    return misplaced;
  }
}
