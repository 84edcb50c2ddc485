package org.ddstore.cli;

/**
 * What {@link ReadBench} compares a measurement with, in turns with it, so that all see the same
 * machine: the {@link CopyLoop}, and what one core copies of a long stretch at best. The first
 * turns only warm up.
 */
final class ReadLimits {
  private final CopyLoop loop;
  private final StreamCopy stream;
  private long loopNanos;
  private long streamNanos;
  private boolean counts;

  /**
   * @param loop the caller's, who closes it
   * @param stream the caller's; begun anew
   */
  ReadLimits(CopyLoop loop, StreamCopy stream) {
    this.loop = loop;
    this.stream = stream;
    stream.begin();
  }

  /**
   * One round of the loop, and turns of the stream for about as long as all rounds took.
   *
   * @param count whether the times are to be remembered; from the first that are, all are
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

  /** Of the loop, wall time of a row in the median round. */
  double microsPerRow() {
    return loop.microsPerRow();
  }

  /** Of the stream, 10^9 bytes a second in the median turn. */
  double streamGbPerSecond() {
    return stream.gbPerSecond();
  }
}
