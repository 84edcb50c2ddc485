package org.ddstore.cli;

import java.io.Serializable;

/**
 * One measurement of {@link ReadBench}.
 *
 * @param transport by which remote rows are read, and what guards it; {@code memory} for others
 * @param why the transport is that, and what it was opened with; empty for memory
 * @param path own process, same host or remote
 * @param access {@link #RANDOM} rows, or one {@link #HOT} one by a call for it alone
 * @param inFlight batches read at the same time
 * @param microsPerRow wall time over rows, of all batches in flight together; the median of some
 *     hundred rounds, or of as many as there is time for
 * @param p99MicrosPerRow of a call that 99 of 100 calls are faster than, over the rows of a batch
 * @param gbPerSecond 10^9 bytes
 * @param limitMicrosPerRow of the plain copy loop, {@link CopyLoop}, by one thread
 * @param ratioToLimit our time over that of the loop; below 1 is faster than it
 * @param limit what the loop is
 * @param streamMicrosPerRow a row's share of a long stretch that one core copies, {@link
 *     StreamCopy}, in turns with the loop
 * @param streamGbPerSecond the same as a rate
 * @param mismatches rows that are not what was written
 */
record ReadResult(
    String transport,
    String why,
    String path,
    String access,
    int rowBytes,
    int batch,
    int inFlight,
    double microsPerRow,
    double p99MicrosPerRow,
    double gbPerSecond,
    double limitMicrosPerRow,
    double ratioToLimit,
    String limit,
    double streamMicrosPerRow,
    double streamGbPerSecond,
    long mismatches)
    implements Serializable {
  static final String RANDOM = "random";
  static final String HOT = "hot";

  private static final long serialVersionUID = 1L;
}
