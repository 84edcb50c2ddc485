// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreInfo;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.benchmarks.driver.RankJvm;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.Segment;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.ReadPath;

/**
 * The measurements of {@link ReadBench} for one row size on one rank: rank 0 reads, the others only
 * hold rows.
 *
 * @param stream owned by the caller; null except on rank 0
 */
record ReadBenchRank(
    ReadBenchPlan plan,
    PatternRows pattern,
    OpenTransport remote,
    StreamCopy stream,
    Consumer<Serializable> results) {
  private static final String ROWS = "rows";

  void run(Communicator ranks) throws Exception {
    int shardRows = plan.shardRows(pattern.rowBytes());
    Transport transport = remote.transport();
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
          List<InetSocketAddress> servers = Stream.of(all).map(ReadBenchRank::address).toList();
          if (plan.replays()) {
            replay(store, servers);
          } else {
            for (ReadPath path : ReadPath.values()) {
              measure(store, path, servers.subList(1, servers.size()));
            }
          }
        }
        ranks.awaitAll("measured", RankJvm.PATIENCE);
      }
    }
  }

  /** Returns the first chunk of the rows of this rank. */
  private static ByteBuffer ownRows(DDStore store) throws IOException {
    Segment segment = attach(store.catalog().segments(ROWS).get(store.info().rank()));
    try {
      return segment.chunk(0); // the store holds the segment until the end
    } finally {
      segment.release();
    }
  }

  /** Returns a segment that the store has already mapped, with a new reference. */
  private static Segment attach(SegmentAddress address) throws IOException {
    return Segment.attach(address.nonce(), address.host(), address.path());
  }

  private static InetSocketAddress address(byte[] text) {
    String address = new String(text, StandardCharsets.US_ASCII);
    int colon = address.lastIndexOf(':');
    return new InetSocketAddress(
        address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
  }

  private void measure(DDStore store, ReadPath path, List<InetSocketAddress> servers)
      throws Exception {
    boolean isRemote = path == ReadPath.REMOTE;
    List<Long> firstRows = new ArrayList<>();
    List<Segment> segments = new ArrayList<>();
    try {
      for (StoreInfo.Extent extent : store.info().variables().get(0).extents()) {
        // Without the shortcut, reads of rank 0 from itself are skipped.
        if (extent.path() == path && (plan.network().shortcut() || extent.rank() != 0)) {
          firstRows.add(extent.firstRow());
          // Reads of remote rows are compared with a loop over rows of rank 0.
          segments.add(attach(store.catalog().segments(ROWS).get(isRemote ? 0 : extent.rank())));
        }
      }
      if (firstRows.isEmpty()) {
        return;
      }
      Variable rows = store.variable(ROWS);
      if (!isRemote && plan.batches().contains(1)) {
        measureHotRow(rows, path, firstRows.get(0), segments.get(0));
      }
      for (int batch : plan.batches()) {
        if (plan.isMeasured(pattern.rowBytes(), batch)) {
          for (int threads : plan.inFlight()) {
            measure(rows, path, batch, threads, firstRows, segments, isRemote ? servers : null);
          }
        }
      }
    } finally {
      segments.forEach(Segment::release);
    }
  }

  private void replay(DDStore store, List<InetSocketAddress> servers) throws IOException {
    Map<Integer, Segment> segments = new HashMap<>();
    try {
      boolean hasRemote = false;
      for (StoreInfo.Extent extent : store.info().variables().get(0).extents()) {
        if (extent.path() == ReadPath.REMOTE) {
          hasRemote = true;
        } else {
          int rank = extent.rank();
          segments.put(rank, attach(store.catalog().segments(ROWS).get(rank)));
        }
      }
      for (int batch : plan.batches()) {
        if (plan.isMeasured(pattern.rowBytes(), batch)) {
          try (ReplayMeasurement steps =
              new ReplayMeasurement(store, ROWS, pattern, batch, segments, servers)) {
            steps.run(plan.seconds());
            results.accept(steps.result(hasRemote ? remote.transport().description() : "memory"));
          }
        }
      }
    } finally {
      segments.values().forEach(Segment::release);
    }
  }

  /** Measures random rows of shards; {@code servers} is null unless the rows are remote. */
  private void measure(
      Variable rows,
      ReadPath path,
      int batch,
      int threads,
      List<Long> firstRows,
      List<Segment> segments,
      List<InetSocketAddress> servers)
      throws Exception {
    int bytes = pattern.rowBytes();
    int shardRows = plan.shardRows(bytes);
    int shards = firstRows.size();
    int loopRound = ReadMeasurement.roundBatches(bytes, batch, 1);
    int loopHeld = ReadMeasurement.heldBatches(bytes, batch, 1) / loopRound * loopRound;
    int round = ReadMeasurement.roundBatches(bytes, batch, threads);
    int held = ReadMeasurement.heldBatches(bytes, batch, threads);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (CopyLoop loop =
            CopyLoop.ofRandomRows(stream, segments, bytes, batch, loopRound, loopHeld);
        SocketReads sockets =
            servers == null ? null : new SocketReads(servers, bytes, batch, threads, round, held)) {
      ReadMeasurement reads =
          new ReadMeasurement(
              rows,
              pattern,
              batch,
              threads,
              random -> firstRows.get((int) (random % shards)) + random / shards % shardRows,
              loop,
              sockets);
      reads.run(plan.seconds(), pool);
      results.accept(
          new ReadResult(
              remote,
              path,
              ReadResult.RANDOM,
              bytes,
              batch,
              threads,
              reads.times(),
              reads.mismatches(),
              loop,
              sockets == null ? null : sockets.times()));
    } finally {
      pool.shutdown();
    }
  }

  /** Measures reads of one row that stays in the caches: the first row of a segment. */
  private void measureHotRow(Variable rows, ReadPath path, long index, Segment segment)
      throws IOException {
    try (CopyLoop loop = CopyLoop.ofFirstRow(stream, segment, pattern.rowBytes())) {
      HotRow hot = new HotRow(rows, pattern, index, loop);
      hot.run(plan.seconds());
      results.accept(
          new ReadResult(
              remote,
              path,
              ReadResult.HOT,
              pattern.rowBytes(),
              1,
              1,
              hot.times(),
              hot.mismatches(),
              loop,
              null));
    }
  }
}
