// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreInfo;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.nativeio.CopyLimit;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.ReadPath;

/**
 * The requests that the steps of a training make to a store, recorded and replayed without it. The
 * steps are those of rank 0 in a shuffled epoch. The ceiling of a step is what no store can beat on
 * this machine: a request of the same size to each owner of rows in other processes, over a plain
 * blocking socket; the {@code memcpy} of the rows in memory, while the owners answer; the receipt
 * of the same bytes. Steps of the store and of the ceiling take turns; rows of the store are
 * compared without timing.
 */
final class ReplayMeasurement implements AutoCloseable {
  private static final int ROUND_BYTES = 8 << 20;
  private static final int MAX_ROUND_STEPS = 32;
  private static final long SEED = 42;
  private static final double WARM_UP = 0.5;

  private final PatternRows pattern;
  private final int batchRows;
  private final Reader reader;
  private final Batch batch;
  private final EpochBatches epoch;
  private final StoreInfo.Extent[] extents; // by rank
  private final Map<Integer, Segment> segments; // of ranks whose rows are in memory
  private final Map<Integer, SocketChannel> sockets = new HashMap<>(); // of the other ranks
  private final OffHeapBuffer target;
  private final DescriptiveStatistics ours = new DescriptiveStatistics();
  private final DescriptiveStatistics ceiling = new DescriptiveStatistics();
  private final long[] indices;
  private long next;
  private long remoteRows;
  private long recordedRows;
  private long mismatches;

  /** A step: addresses of rows in memory, and the number of rows by owner of the others. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Step(long[] indices, long[] local, Map<Integer, Integer> remote) {}

  /**
   * @param segments segments of ranks whose rows are in memory, held by the caller
   * @param servers addresses of the plain sockets, by rank
   */
  ReplayMeasurement(
      DDStore store,
      String variable,
      PatternRows pattern,
      int batchRows,
      Map<Integer, Segment> segments,
      List<InetSocketAddress> servers)
      throws IOException {
    this.pattern = pattern;
    this.batchRows = batchRows;
    this.segments = segments;
    this.indices = new long[batchRows];
    StoreInfo info = store.info();
    List<StoreInfo.Extent> all = info.variables().get(0).extents();
    this.extents = all.toArray(StoreInfo.Extent[]::new);
    long rows = store.variable(variable).rows();
    this.epoch =
        Samplers.shuffled(SEED).batchSize(batchRows).epoch(rows, new WorldRank(0, all.size()), 0);
    this.reader = store.variable(variable).reader();
    this.batch = reader.getBatch();
    this.target = OffHeapBuffer.allocate((long) batchRows * pattern.rowBytes());
    try {
      for (StoreInfo.Extent extent : extents) {
        if (extent.path() == ReadPath.REMOTE) {
          sockets.put(
              extent.rank(),
              SocketReads.connect(servers.get(extent.rank()), ReadSocket.SIZES_IN_REQUESTS, 0));
        }
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  void run(double seconds) throws IOException {
    int count =
        Math.max(1, Math.min(MAX_ROUND_STEPS, ROUND_BYTES / batchRows / pattern.rowBytes()));
    long startNs = System.nanoTime();
    long warmNs = startNs + (long) (WARM_UP * seconds * TimeUnit.SECONDS.toNanos(1));
    long endNs = warmNs + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    for (long now = startNs; now < endNs || ours.getN() == 0; now = System.nanoTime()) {
      List<Step> steps = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        steps.add(record());
      }
      double mine = timeOurs(steps);
      double least = timeCeiling(steps);
      if (now >= warmNs) {
        ours.addValue(mine);
        ceiling.addValue(least);
      }
    }
  }

  private Step record() {
    epoch.fill(next++ % epoch.batches(), indices);
    long[] local = new long[batchRows];
    int locals = 0;
    Map<Integer, Integer> remote = new HashMap<>();
    for (long index : indices) {
      StoreInfo.Extent extent = extentOf(index);
      Segment segment = segments.get(extent.rank());
      if (segment == null) {
        remote.merge(extent.rank(), 1, Integer::sum);
      } else {
        local[locals++] = segment.address(index - extent.firstRow());
      }
    }
    recordedRows += batchRows;
    remoteRows += batchRows - locals;
    return new Step(indices.clone(), Arrays.copyOf(local, locals), remote);
  }

  private StoreInfo.Extent extentOf(long index) {
    int rank = extents.length - 1;
    while (extents[rank].firstRow() > index) {
      rank--;
    }
    return extents[rank];
  }

  /** Returns microseconds per row of the store. */
  private double timeOurs(List<Step> steps) {
    long nanos = 0;
    for (Step step : steps) {
      long start = System.nanoTime();
      reader.getBatch(batch, step.indices());
      nanos += System.nanoTime() - start;
      ByteBuffer bytes =
          batch.field(PatternRows.FIELD).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < batchRows; i++) {
        boolean isRight = pattern.matches(step.indices()[i], bytes, i * pattern.rowBytes());
        mismatches += isRight ? 0 : 1;
      }
    }
    return nanos / 1e3 / steps.size() / batchRows;
  }

  /** Returns microseconds per row of the ceiling. */
  private double timeCeiling(List<Step> steps) throws IOException {
    int rowBytes = pattern.rowBytes();
    long nanos = 0;
    for (Step step : steps) {
      Map<Integer, ByteBuffer> requests = new HashMap<>();
      step.remote().forEach((rank, rows) -> requests.put(rank, request(rows, rowBytes)));
      long start = System.nanoTime();
      for (Map.Entry<Integer, ByteBuffer> request : requests.entrySet()) {
        ReadSocket.send(sockets.get(request.getKey()), request.getValue());
      }
      if (step.local().length > 0) {
        CopyLimit.rowsNanos(
            step.local(), new long[] {target.address()}, step.local().length, rowBytes);
      }
      int at = step.local().length * rowBytes;
      for (Map.Entry<Integer, Integer> owner : step.remote().entrySet()) {
        int bytes = owner.getValue() * rowBytes;
        ReadSocket.receive(sockets.get(owner.getKey()), target.buffer().slice(at, bytes));
        at += bytes;
      }
      nanos += System.nanoTime() - start;
    }
    return nanos / 1e3 / steps.size() / batchRows;
  }

  private static ByteBuffer request(int rows, int rowBytes) {
    int bytes = SocketReads.requestBytes(rows);
    return ByteBuffer.allocateDirect(bytes).putInt(bytes).putInt(rows * rowBytes).rewind();
  }

  /** Returns whether the ceiling can be measured: its copies are in C. */
  static boolean isPossible() {
    return NativeLibrary.isLoaded();
  }

  ReplayResult result(String transport) {
    return new ReplayResult(
        transport,
        pattern.rowBytes(),
        batchRows,
        (double) remoteRows / recordedRows,
        ours.getValues(),
        ceiling.getValues(),
        mismatches);
  }

  @Override
  public void close() throws IOException {
    batch.close();
    reader.close();
    target.close();
    for (SocketChannel socket : sockets.values()) {
      socket.close();
    }
  }
}
