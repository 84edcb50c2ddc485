// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.commons.math3.stat.StatUtils;

/**
 * One line of the report of {@link EpochBench}.
 *
 * @param way name of the way, see {@link EpochWay#toString()}
 * @param rows number of rows that all ranks together receive in an epoch
 * @param rounds time per row of each round, in microseconds
 * @param epochSeconds time in seconds until the slowest rank has its last batch, in the median
 *     round
 * @param microsPerRow time of the epoch per row, in microseconds
 * @param gbPerSecond throughput of all ranks, in 10^9 bytes per second
 * @param ratioToRawGather time of this way divided by the time of the raw gather; below 1 is faster
 * @param waits share of time, in [0, 1], that a consumer with a slower step waits; null if not
 *     counted
 * @param mismatches number of rows of one epoch that differ from the order or from the written rows
 */
@SuppressWarnings("ArrayRecordComponent") // raw samples, which nobody compares
record EpochResult(
    String way,
    int rowBytes,
    int batch,
    long rows,
    @JsonIgnore double[] rounds,
    double epochSeconds,
    double microsPerRow,
    double gbPerSecond,
    double ratioToRawGather,
    Double waits,
    long mismatches)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * @param plan plan of one row size
   * @param seconds time of an epoch in each round
   * @param gatherMicros time per row of the raw gather of that row size, in microseconds
   */
  static EpochResult of(
      EpochPlan plan,
      EpochWay way,
      double[] seconds,
      double gatherMicros,
      Double waits,
      long mismatches) {
    int rowBytes = plan.rowBytes().get(0);
    long rows = plan.epochRows();
    double epochSeconds = StatUtils.percentile(seconds, 50);
    return new EpochResult(
        way.toString(),
        rowBytes,
        plan.batch(),
        rows,
        Arrays.stream(seconds).map(round -> round * 1e6 / rows).toArray(),
        epochSeconds,
        epochSeconds * 1e6 / rows,
        rows * (double) rowBytes / epochSeconds / 1e9,
        epochSeconds * 1e6 / rows / gatherMicros,
        waits,
        mismatches);
  }
}
