package org.ddstore.loader;

import java.util.Arrays;
import java.util.List;
import org.ddstore.ReadPath;
import org.ddstore.ReadStatistics;

/** What the readers of a loader have read, by path; those that are closed count. Any thread. */
final class ReadsByPath {
  private final ReadStatistics[] sums =
      Arrays.stream(ReadPath.values()).map(ReadsByPath::none).toArray(ReadStatistics[]::new);

  /** What has been read over a path by a reader that has read nothing. */
  static ReadStatistics none(ReadPath path) {
    return new ReadStatistics(path, 0, 0, 0, 0);
  }

  /** Adds what a reader has read between two of its statistics of one path. */
  synchronized void add(ReadStatistics before, ReadStatistics after) {
    ReadStatistics sum = sums[after.path().index()];
    sums[after.path().index()] =
        new ReadStatistics(
            after.path(),
            sum.calls() + after.calls() - before.calls(),
            sum.rows() + after.rows() - before.rows(),
            sum.bytes() + after.bytes() - before.bytes(),
            sum.nanos() + after.nanos() - before.nanos());
  }

  synchronized List<ReadStatistics> all() {
    return List.of(sums);
  }
}
