package org.ddstore.loader;

import java.util.Arrays;
import java.util.List;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/** What the readers of a loader have read, by path; those that are closed count. Any thread. */
final class ReadsByPath {
  private final ReadStatistics[] sums =
      Arrays.stream(ReadPath.values()).map(ReadStatistics::none).toArray(ReadStatistics[]::new);

  /** Adds what a reader has read between two of its statistics of one path. */
  synchronized void add(ReadStatistics before, ReadStatistics after) {
    int path = after.path().index();
    sums[path] = sums[path].plus(after.since(before));
  }

  synchronized List<ReadStatistics> all() {
    return List.of(sums);
  }
}
