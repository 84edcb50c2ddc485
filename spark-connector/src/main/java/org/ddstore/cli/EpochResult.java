package org.ddstore.cli;

/**
 * One line of what {@link EpochBench} says.
 *
 * @param way as {@link EpochWay#toString()}
 * @param rows that all ranks together are given in an epoch
 * @param epochSeconds until the slowest rank has its last batch
 * @param microsPerRow of the epoch's time
 * @param gbPerSecond 10^9 bytes, over all ranks
 * @param ratioToRawGather this way's time over that of the raw gather; below 1 is faster than it
 * @param waits the part of its time that a consumer waits whose step is slower than this way, of
 *     [0, 1]; null where that is not counted
 * @param mismatches rows that are not those of the order, or not what was written
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
