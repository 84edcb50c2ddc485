// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreInfo;
import org.ddstore.StoreOptions;
import org.ddstore.benchmarks.socket.ReadSocket;
import org.ddstore.benchmarks.socket.SocketRatios;
import org.ddstore.benchmarks.socket.SocketReads;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.Segment;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.ReadPath;

/** The work of a rank of {@link ReadBench}: rank 0 reads, the others only hold rows. */
final class ReadBenchRank implements RankWork {
  private static final long serialVersionUID = 1L;
  private static final String ROWS = "rows";

  private final ReadBenchPlan plan;
  private transient StreamCopy stream;
  private transient String reason;
  private transient List<InetSocketAddress> servers; // sockets of the other ranks
  private transient Consumer<Serializable> results;

  ReadBenchRank(ReadBenchPlan plan) {
    this.plan = plan;
  }

  @Override
  public RankNetwork network() {
    return plan.network();
  }

  @Override
  public void run(Communicator ranks, OpenTransport remote, Consumer<Serializable> sink)
      throws Exception {
    results = sink;
    reason = remote.reason();
    Transport transport = remote.transport();
    if (ranks.rank() != 0) {
      play(ranks, transport);
      return;
    }
    try (StreamCopy opened = new StreamCopy()) {
      stream = opened;
      play(ranks, transport);
    }
  }

  private void play(Communicator ranks, Transport transport) throws Exception {
    for (int rowBytes : plan.rowBytes()) {
      play(rowBytes, ranks, transport);
    }
  }

  private void play(int rowBytes, Communicator ranks, Transport transport) throws Exception {
    PatternRows pattern = new PatternRows(rowBytes);
    int shardRows = plan.shardRows(rowBytes);
    StoreOptions options = plan.network().storeOptions();
    try (DDStore store = DDStore.open(ranks, transport, options)) {
      ShardWriter writer = ShardWriter.create(pattern.schema(), options);
      pattern.write((long) ranks.rank() * shardRows, shardRows, writer);
      store.add(ROWS, writer);
      String host = transport.local().host();
      try (ReadSocket socket = new ReadSocket(InetAddress.getByName(host), ownRows(store))) {
        byte[] address = "%s:%d".formatted(host, socket.port()).getBytes(StandardCharsets.US_ASCII);
        byte[][] all = ranks.allGather(address);
        if (ranks.rank() == 0) {
          servers = Stream.of(all).skip(1).map(ReadBenchRank::address).toList();
          measure(store, transport, pattern, rowBytes);
        }
        ranks.awaitAll("measured", RankJvm.PATIENCE);
      }
    }
  }

  /** Returns the first chunk of the rows of this rank. */
  private static ByteBuffer ownRows(DDStore store) throws IOException {
    SegmentAddress own = store.catalog().segments(ROWS).get(store.info().rank());
    Segment segment = Segment.attach(own.nonce(), own.host(), own.path());
    try {
      return segment.chunk(0); // the store holds the segment until the end
    } finally {
      segment.release();
    }
  }

  private static InetSocketAddress address(byte[] text) {
    String address = new String(text, StandardCharsets.US_ASCII);
    int colon = address.lastIndexOf(':');
    return new InetSocketAddress(
        address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
  }

  private void measure(DDStore store, Transport remote, PatternRows pattern, int rowBytes)
      throws Exception {
    for (ReadPath path : ReadPath.values()) {
      List<Long> firstRows = new ArrayList<>();
      List<SegmentAddress> copied = new ArrayList<>();
      List<SegmentAddress> addresses = store.catalog().segments(ROWS);
      for (StoreInfo.Extent extent : store.info().variables().get(0).extents()) {
        // Without the shortcut, reads of rank 0 from itself are skipped.
        if (extent.path() == path && (plan.network().shortcut() || extent.rank() != 0)) {
          firstRows.add(extent.firstRow());
          // Reads of remote rows are compared with a loop over rows of rank 0.
          copied.add(addresses.get(path == ReadPath.REMOTE ? 0 : extent.rank()));
        }
      }
      if (!firstRows.isEmpty()) {
        String transport = path == ReadPath.REMOTE ? remote.description() : "memory";
        List<Segment> segments = attach(copied);
        try {
          if (path != ReadPath.REMOTE && plan.batches().contains(1)) {
            measureHotRow(store, path, firstRows.get(0), pattern, rowBytes, segments.get(0));
          }
          measure(store, path, transport, firstRows, pattern, rowBytes, segments);
        } finally {
          segments.forEach(Segment::release);
        }
      }
    }
  }

  /** Returns the segments that the store has already mapped, each with a new reference. */
  private static List<Segment> attach(List<SegmentAddress> addresses) throws IOException {
    List<Segment> segments = new ArrayList<>();
    for (SegmentAddress address : addresses) {
      segments.add(Segment.attach(address.nonce(), address.host(), address.path()));
    }
    return segments;
  }

  private void measure(
      DDStore store,
      ReadPath path,
      String transport,
      List<Long> firstRows,
      PatternRows pattern,
      int rowBytes,
      List<Segment> segments)
      throws Exception {
    int shardRows = plan.shardRows(rowBytes);
    int shards = firstRows.size();
    for (int batch : plan.batches()) {
      if (!plan.isMeasured(rowBytes, batch)) {
        continue;
      }
      for (int threads : plan.inFlight()) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        int inRound = ReadMeasurement.roundBatches(rowBytes, batch, 1);
        int held = ReadMeasurement.heldBatches(rowBytes, batch, 1) / inRound * inRound;
        CopyLoop loop = CopyLoop.ofRandomRows(segments, rowBytes, batch, inRound, held);
        ReadLimits limits = new ReadLimits(loop, stream);
        SocketReads sockets = path == ReadPath.REMOTE ? sockets(rowBytes, batch, threads) : null;
        ReadMeasurement measurement =
            new ReadMeasurement(
                store.variable(ROWS),
                pattern,
                rowBytes,
                batch,
                threads,
                random -> firstRows.get((int) (random % shards)) + random / shards % shardRows,
                limits,
                sockets);
        measurement.run(plan.seconds(), pool);
        pool.shutdown();
        results.accept(
            result(
                transport,
                path,
                ReadResult.RANDOM,
                rowBytes,
                batch,
                threads,
                measurement.microsPerRow(),
                measurement.p99MicrosPerRow(),
                limits,
                ratios(measurement, sockets),
                measurement.mismatches()));
        loop.close();
        if (sockets != null) {
          sockets.close();
        }
      }
    }
  }

  private static SocketRatios ratios(ReadMeasurement reads, SocketReads sockets) {
    return sockets == null
        ? SocketRatios.NONE
        : SocketRatios.of(
            reads.microsPerRow(), reads.p99MicrosPerRow(), reads.processorMicrosPerRow(), sockets);
  }

  private SocketReads sockets(int rowBytes, int batch, int threads) throws IOException {
    return new SocketReads(
        servers,
        rowBytes,
        batch,
        threads,
        ReadMeasurement.roundBatches(rowBytes, batch, threads),
        ReadMeasurement.heldBatches(rowBytes, batch, threads));
  }

  /** Measures reads of one row that stays in the caches: the first row of a segment. */
  private void measureHotRow(
      DDStore store, ReadPath path, long index, PatternRows pattern, int rowBytes, Segment segment)
      throws IOException {
    try (CopyLoop loop = CopyLoop.ofFirstRow(segment, rowBytes)) {
      ReadLimits limits = new ReadLimits(loop, stream);
      HotRow hot = new HotRow(store.variable(ROWS), pattern, rowBytes, index, limits);
      hot.run(plan.seconds());
      double micros = hot.microsPerRow();
      double p99Micros = hot.p99MicrosPerRow();
      results.accept(
          result(
              "memory",
              path,
              ReadResult.HOT,
              rowBytes,
              1,
              1,
              micros,
              p99Micros,
              limits,
              SocketRatios.NONE,
              hot.mismatches()));
    }
  }

  private ReadResult result(
      String transport,
      ReadPath path,
      String access,
      int rowBytes,
      int batch,
      int threads,
      double micros,
      double p99Micros,
      ReadLimits limits,
      SocketRatios sockets,
      long mismatches) {
    double streamGbPerSecond = limits.streamGbPerSecond();
    return new ReadResult(
        transport,
        path == ReadPath.REMOTE ? reason : "",
        path.toString(),
        access,
        rowBytes,
        batch,
        threads,
        micros,
        p99Micros,
        rowBytes / 1e3 / micros,
        limits.microsPerRow(),
        micros / limits.microsPerRow(),
        CopyLoop.description(),
        rowBytes / 1e3 / streamGbPerSecond,
        streamGbPerSecond,
        sockets.microsPerRow(),
        sockets.ratio(),
        sockets.p99Ratio(),
        sockets.processorRatio(),
        mismatches);
  }
}
