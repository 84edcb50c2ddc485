package org.ddstore.loader;

import java.util.Arrays;
import java.util.List;

/** What all stages have done. Any thread; a count is a few tens of nanoseconds a batch. */
final class StageCounters {
  private final StageStatistics[] statistics =
      Arrays.stream(Stage.values()).map(StageStatistics::none).toArray(StageStatistics[]::new);

  synchronized void count(Stage stage, long nanos, long bytes) {
    statistics[stage.index()] = statistics[stage.index()].plus(nanos, bytes);
  }

  synchronized List<StageStatistics> all() {
    return List.of(statistics);
  }
}
