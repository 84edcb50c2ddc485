// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.List;
import org.ddstore.LatencyHistogram;
import org.ddstore.ReadStatistics;
import org.ddstore.Variable;
import org.ddstore.spark.types.LoaderTimes;

/** The counters of one reader of a store so far. Called by any thread. */
@FunctionalInterface
public interface ReaderCounters {
  /** Returns the reads; paths without reads may be left out. */
  List<ReadStatistics> reads();

  default LatencyHistogram latency() {
    return LatencyHistogram.none();
  }

  default LoaderTimes loader() {
    return LoaderTimes.none();
  }

  /** Returns the counters of the readers of a variable, and of loaders on it. */
  static ReaderCounters of(Variable rows, LoaderWatch loaders) {
    return new ReaderCounters() {
      @Override
      public List<ReadStatistics> reads() {
        return rows.statistics();
      }

      @Override
      public LatencyHistogram latency() {
        return rows.latency();
      }

      @Override
      public LoaderTimes loader() {
        return loaders.times();
      }
    };
  }
}
