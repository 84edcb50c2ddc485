// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

/**
 * The times of a {@link ReadMeasurement} relative to plain sockets; null for rows that are not read
 * over a network.
 */
record SocketRatios(Double microsPerRow, Double ratio, Double p99Ratio, Double processorRatio) {
  static final SocketRatios NONE = new SocketRatios(null, null, null, null);

  /**
   * @param sockets limit that was measured in turns with the reads, or null
   */
  static SocketRatios of(ReadMeasurement reads, SocketReads sockets) {
    return sockets == null
        ? NONE
        : new SocketRatios(
            sockets.microsPerRow(),
            reads.microsPerRow() / sockets.microsPerRow(),
            reads.p99MicrosPerRow() / sockets.p99MicrosPerRow(),
            reads.processorMicrosPerRow() / sockets.processorMicrosPerRow());
  }
}
