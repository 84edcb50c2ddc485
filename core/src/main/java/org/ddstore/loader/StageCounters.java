// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Arrays;
import java.util.List;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/** The counters of all stages, and the read statistics by path. Thread-safe. */
final class StageCounters {
  private final Counter[] counters =
      Arrays.stream(Stage.values()).map(Counter::new).toArray(Counter[]::new);

  private final ReadStatistics[] reads =
      Arrays.stream(ReadPath.values()).map(ReadStatistics::none).toArray(ReadStatistics[]::new);

  /** Adds the difference between two statistics of one path of a reader. */
  void addReads(ReadStatistics before, ReadStatistics after) {
    int path = after.path().index();
    synchronized (reads) {
      reads[path] = reads[path].plus(after.since(before));
    }
  }

  List<ReadStatistics> reads() {
    synchronized (reads) {
      return List.of(reads);
    }
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
