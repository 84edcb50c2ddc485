// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Variable;

/**
 * A measurement of random batches read by several threads, in rounds. In each round all threads
 * read and are timed, then all compare the rows read without timing, then the {@link CopyLoop}
 * runs, so that both run under the same conditions. The first rounds are warm-up.
 */
final class ReadMeasurement {
  private static final long HELD_BYTES = 64L << 20;
  private static final int MAX_HELD = 256;

  /** Short rounds, so that other processes do not interrupt the median round. */
  private static final long ROUND_BYTES = 8L << 20;

  private static final double WARM_UP = 0.4;

  private final Variable rows;
  private final PatternRows pattern;
  private final int rowBytes;
  private final int batch;
  private final int threads;
  private final LongUnaryOperator draw;
  private final CopyLoop loop;
  private final SocketReads sockets;

  private final ReadTimes times;
  private long mismatches;

  /**
   * @param draw function that maps a random number in [0, Long.MAX_VALUE] to an index
   * @param loop baseline, run after each round
   * @param sockets limit of rows read over a network, run after each round; null for other rows
   */
  ReadMeasurement(
      Variable rows,
      PatternRows pattern,
      int batch,
      int threads,
      LongUnaryOperator draw,
      CopyLoop loop,
      SocketReads sockets) {
    this.rows = rows;
    this.pattern = pattern;
    this.rowBytes = pattern.rowBytes();
    this.batch = batch;
    this.threads = threads;
    this.draw = draw;
    this.loop = loop;
    this.sockets = sockets;
    this.times = new ReadTimes(batch);
  }

  /**
   * Returns the number of batches that a thread fills in turn, enough to evict them from caches.
   */
  static int heldBatches(int rowBytes, int batch, int threads) {
    long fitting = HELD_BYTES / threads / ((long) rowBytes * batch);
    return (int) Math.max(1, Math.min(MAX_HELD, fitting));
  }

  /** Returns the number of batches that a thread fills in one round. */
  static int roundBatches(int rowBytes, int batch, int threads) {
    long fitting = ROUND_BYTES / threads / ((long) rowBytes * batch);
    return (int) Math.max(1, Math.min(heldBatches(rowBytes, batch, threads), fitting));
  }

  void run(double seconds, ExecutorService pool)
      throws InterruptedException, ExecutionException, IOException {
    List<Worker> workers = new ArrayList<>();
    try {
      for (int t = 0; t < threads; t++) {
        workers.add(new Worker(t));
      }
      long warm = System.nanoTime() + (long) (WARM_UP * seconds * TimeUnit.SECONDS.toNanos(1));
      while (System.nanoTime() < warm) {
        round(workers, pool, false);
      }
      double left = seconds * TimeUnit.SECONDS.toMicros(1);
      while (left > 0) {
        left -= round(workers, pool, true) * threads * workers.get(0).indices.length * batch;
      }
    } finally {
      workers.forEach(Worker::close);
    }
  }

  /** Runs a round of the reads and of the baselines; returns the microseconds per row. */
  private double round(List<Worker> workers, ExecutorService pool, boolean count)
      throws InterruptedException, ExecutionException, IOException {
    workers.forEach(Worker::prepare);
    double perRow =
        times.round(pool, workers, sockets == null ? () -> 0 : sockets::allProcessorNanos, count);
    List<Callable<Long>> checks = new ArrayList<>();
    workers.forEach(worker -> checks.add(worker::check));
    for (Future<Long> done : pool.invokeAll(checks)) {
      mismatches += done.get();
    }
    loop.round(count);
    if (sockets != null) {
      sockets.round(pool, count);
    }
    return perRow;
  }

  ReadTimes times() {
    return times;
  }

  long mismatches() {
    return mismatches;
  }

  /** A thread with its reader and its batches. */
  private final class Worker extends ReadTimes.Worker implements AutoCloseable {
    private final Reader reader = rows.reader();
    private final SplittableRandom random;
    private final List<Batch> batches = new ArrayList<>();
    private final long[][] indices;
    private final int held;
    private int first;

    Worker(int number) {
      super(roundBatches(rowBytes, batch, threads));
      random = new SplittableRandom(number);
      int inRound = roundBatches(rowBytes, batch, threads);
      held = heldBatches(rowBytes, batch, threads) / inRound * inRound;
      indices = new long[inRound][batch];
    }

    void prepare() {
      first = batches.size() < held ? batches.size() : (first + indices.length) % held;
      for (long[] row : indices) {
        for (int i = 0; i < row.length; i++) {
          row[i] = draw.applyAsLong(random.nextLong() & Long.MAX_VALUE);
        }
      }
    }

    @Override
    void read(int number) {
      if (first + number < batches.size()) {
        reader.getBatch(batches.get(first + number), indices[number]);
      } else {
        batches.add(reader.getBatch(indices[number]));
      }
    }

    long check() {
      long wrong = 0;
      for (int b = 0; b < indices.length; b++) {
        ByteBuffer bytes =
            batches
                .get(first + b)
                .field(PatternRows.FIELD)
                .asByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < batch; i++) {
          wrong += pattern.matches(indices[b][i], bytes, i * rowBytes) ? 0 : 1;
        }
      }
      return wrong;
    }

    @Override
    public void close() {
      batches.forEach(Batch::close);
      reader.close();
    }
  }
}
