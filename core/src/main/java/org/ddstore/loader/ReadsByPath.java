// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Arrays;
import java.util.List;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/**
 * The read statistics of all readers of a loader by path, including closed readers. Safe for use by
 * several threads.
 */
final class ReadsByPath {
  private final ReadStatistics[] sums =
      Arrays.stream(ReadPath.values()).map(ReadStatistics::none).toArray(ReadStatistics[]::new);

  /** Adds the difference between two statistics of one path of a reader. */
  synchronized void add(ReadStatistics before, ReadStatistics after) {
    int path = after.path().index();
    sums[path] = sums[path].plus(after.since(before));
  }

  synchronized List<ReadStatistics> all() {
    return List.of(sums);
  }
}
