// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.io.Serializable;
import java.util.List;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.ReadPath;

/**
 * One measurement of {@link ReadBench}.
 *
 * @param transport transport of remote rows and its protection; {@code memory} for other rows
 * @param why reason for the transport and its settings; empty for memory
 * @param path path of the reads: own process, same host or remote
 * @param access {@link #RANDOM} rows in batches, or one {@link #HOT} row in single reads
 * @param inFlight number of batches read concurrently
 * @param microsPerRow wall time per row over all batches in flight, in microseconds; the median of
 *     several hundred rounds, or of fewer if time runs out
 * @param p99MicrosPerRow 99th percentile of the duration of a call, divided by the rows of a batch
 * @param gbPerSecond throughput in 10^9 bytes per second
 * @param limitMicrosPerRow time per row of the plain {@link CopyLoop} by one thread, in
 *     microseconds
 * @param ratioToLimit time of the reads divided by the time of the loop; below 1 is faster
 * @param limit description of the loop
 * @param streamMicrosPerRow time per row when one core copies a long range, see {@link StreamCopy}
 * @param streamGbPerSecond the same, as a rate in 10^9 bytes per second
 * @param socketMicrosPerRow time per row of {@link SocketReads}, plain blocking sockets between the
 *     same processes; null unless rows are remote, like the following
 * @param ratioToSocket time of the reads divided by the time of the sockets; below 1 is faster
 * @param p99RatioToSocket the same for the 99th percentiles of the duration of a call
 * @param cpuRatioToSocket the same for the processor time of all processes
 * @param mismatches number of rows that differ from the written rows
 * @param rounds time per row of each round, in microseconds
 * @param limitRounds the same of the loop, after each round
 * @param socketRounds the same of the sockets; null unless rows are remote
 */
@SuppressWarnings("ArrayRecordComponent") // raw samples, which nobody compares
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
    Double socketMicrosPerRow,
    Double ratioToSocket,
    Double p99RatioToSocket,
    Double cpuRatioToSocket,
    long mismatches,
    @JsonIgnore double[] rounds,
    @JsonIgnore double[] limitRounds,
    @JsonIgnore double[] socketRounds)
    implements Serializable {
  static final String RANDOM = "random";
  static final String HOT = "hot";

  private static final String SOCKETS = "plain sockets";
  private static final String UNIT = "µs/row";

  private static final long serialVersionUID = 1L;

  /**
   * @param sockets null unless the rows are remote
   */
  ReadResult(
      OpenTransport remote,
      ReadPath path,
      String access,
      int rowBytes,
      int batch,
      int inFlight,
      ReadTimes reads,
      long mismatches,
      CopyLoop loop,
      ReadTimes sockets) {
    this(
        path == ReadPath.REMOTE ? remote.transport().description() : "memory",
        path == ReadPath.REMOTE ? remote.reason() : "",
        path.toString(),
        access,
        rowBytes,
        batch,
        inFlight,
        reads.microsPerRow(),
        reads.p99MicrosPerRow(),
        rowBytes / 1e3 / reads.microsPerRow(),
        loop.microsPerRow(),
        reads.microsPerRow() / loop.microsPerRow(),
        CopyLoop.description(),
        rowBytes / 1e3 / loop.streamGbPerSecond(),
        loop.streamGbPerSecond(),
        sockets == null ? null : sockets.microsPerRow(),
        sockets == null ? null : reads.microsPerRow() / sockets.microsPerRow(),
        sockets == null ? null : reads.p99MicrosPerRow() / sockets.p99MicrosPerRow(),
        sockets == null ? null : reads.processorMicrosPerRow() / sockets.processorMicrosPerRow(),
        mismatches,
        reads.rounds(),
        loop.rounds(),
        sockets == null ? null : sockets.rounds());
  }

  /** Returns the reads and what they are compared with, for a report. */
  List<Figure> figures() {
    boolean isRemote = socketRounds != null;
    String section = isRemote ? "rows of another process, " + transport : "rows in memory";
    String subject =
        "%s%s, %s%s"
            .formatted(
                ByteSize.format(rowBytes),
                isRemote ? "" : path.equals("own process") ? ", own" : ", same host",
                access.equals(HOT) ? "one hot row" : "batches of %,d".formatted(batch),
                inFlight == 1 ? "" : ", %d in flight".formatted(inFlight));
    double[] ceiling = isRemote ? socketRounds : limitRounds;
    String name = isRemote ? SOCKETS : limit.replaceFirst("^a plain loop of ", "");
    return List.of(
        Figure.of(section, subject, Figure.DDSTORE, UNIT, rounds)
            .to(name, ceiling)
            .wrong(mismatches),
        Figure.of(section, subject, name, UNIT, ceiling).to(name, ceiling).asLimit());
  }
}
