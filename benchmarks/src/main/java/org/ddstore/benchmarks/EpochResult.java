// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

/**
 * One line of the report of {@link EpochBench}.
 *
 * @param way name of the way, see {@link EpochWay#toString()}
 * @param rows number of rows that all ranks together receive in an epoch
 * @param epochSeconds time in seconds until the slowest rank has its last batch
 * @param microsPerRow time of the epoch per row, in microseconds
 * @param gbPerSecond throughput of all ranks, in 10^9 bytes per second
 * @param ratioToRawGather time of this way divided by the time of the raw gather; below 1 is faster
 * @param waits share of time, in [0, 1], that a consumer with a slower step waits; null if not
 *     counted
 * @param mismatches number of rows that differ from the order or from the written rows
 */
record EpochResult(
    String way,
    int rowBytes,
    int batch,
    long rows,
    double epochSeconds,
    double microsPerRow,
    double gbPerSecond,
    double ratioToRawGather,
    Double waits,
    long mismatches) {
  static EpochResult of(EpochPlan plan, EpochTime time, double gatherSeconds) {
    long rows = plan.epochRows();
    return new EpochResult(
        time.way().toString(),
        time.rowBytes(),
        plan.batch(),
        rows,
        time.epochSeconds(),
        time.epochSeconds() * 1e6 / rows,
        rows * (double) time.rowBytes() / time.epochSeconds() / 1e9,
        time.epochSeconds() / gatherSeconds,
        time.waits(),
        time.mismatches());
  }
}
