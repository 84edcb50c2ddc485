// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Arrays;
import java.util.List;

/**
 * The counters of all stages and the read statistics by path. Safe for use by several threads;
 * threads of different stages do not contend.
 */
final class StageCounters {
  private final Counter[] counters =
      Arrays.stream(Stage.values()).map(Counter::new).toArray(Counter[]::new);

  private final ReadsByPath reads = new ReadsByPath();

  ReadsByPath reads() {
    return reads;
  }

  void count(Stage stage, long nanos, long bytes) {
    counters[stage.index()].add(nanos, bytes);
  }

  List<StageStatistics> all() {
    return Arrays.stream(counters).map(Counter::statistics).toList();
  }

  private static final class Counter {
    private final Stage stage;
    private long count;
    private long totalNanos;
    private long bestNanos;
    private long bytes;

    Counter(Stage stage) {
      this.stage = stage;
    }

    synchronized void add(long nanos, long moreBytes) {
      bestNanos = count == 0 ? nanos : Math.min(bestNanos, nanos);
      count++;
      totalNanos += nanos;
      bytes += moreBytes;
    }

    synchronized StageStatistics statistics() {
      return new StageStatistics(stage, count, totalNanos, bestNanos, bytes);
    }
  }
}
