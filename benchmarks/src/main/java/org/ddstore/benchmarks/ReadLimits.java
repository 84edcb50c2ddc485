// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

/**
 * The baselines of a measurement of {@link ReadBench}: the {@link CopyLoop}, and the maximum rate
 * at which one core copies a long range of memory. They alternate with the measurement, so that all
 * run under the same conditions. The first turns are warm-up.
 */
final class ReadLimits {
  private final CopyLoop loop;
  private final StreamCopy stream;
  private long loopNanos;
  private long streamNanos;
  private boolean counts;

  /**
   * @param loop copy loop, owned by the caller
   * @param stream stream copy, owned by the caller; reset by this constructor
   */
  ReadLimits(CopyLoop loop, StreamCopy stream) {
    this.loop = loop;
    this.stream = stream;
    stream.begin();
  }

  /**
   * Runs one round of the loop, and turns of the stream until both have taken about equal time.
   *
   * @param count whether the times are recorded; once true, true for all later rounds
   */
  void round(boolean count) {
    if (count && !counts) {
      counts = true;
      stream.begin();
      loopNanos = 0;
      streamNanos = stream.turn();
    }
    loopNanos += loop.round(count);
    while (streamNanos < loopNanos) {
      streamNanos += stream.turn();
    }
  }

  /** Returns the wall time per row of the loop's median round, in microseconds. */
  double microsPerRow() {
    return loop.microsPerRow();
  }

  /** Returns the rate of the stream's median turn, in 10^9 bytes per second. */
  double streamGbPerSecond() {
    return stream.gbPerSecond();
  }
}
