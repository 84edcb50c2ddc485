// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.socket;

/**
 * The times of reads relative to plain sockets; null for rows that are not read over a network.
 *
 * @param microsPerRow time per row of the sockets in microseconds
 */
public record SocketRatios(
    Double microsPerRow, Double ratio, Double p99Ratio, Double processorRatio) {
  /** Those of rows that are not read over a network. */
  public static final SocketRatios NONE = new SocketRatios(null, null, null, null);

  /**
   * Returns the ratios of reads to sockets that were measured in turns with them.
   *
   * @param micros time of the reads per row, then its 99th percentile and the processor time of all
   *     processes, in microseconds
   */
  public static SocketRatios of(
      double micros, double p99Micros, double processorMicros, SocketReads sockets) {
    return new SocketRatios(
        sockets.microsPerRow(),
        micros / sockets.microsPerRow(),
        p99Micros / sockets.p99MicrosPerRow(),
        processorMicros / sockets.processorMicrosPerRow());
  }
}
