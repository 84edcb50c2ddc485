// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreReader;
import org.ddstore.types.DDStoreException;

/** Threads of this JVM that read random batches of a store without end, and note their pauses. */
final class RecoverReaders implements AutoCloseable {
  private static final int BATCH = 64;
  private static final long PACE_MS = 5;

  private final StoreReader store;
  private final boolean isPaced;
  private final List<Loop> loops = new ArrayList<>();
  private volatile boolean isEnding;

  private RecoverReaders(StoreReader store, boolean isPaced) {
    this.store = store;
    this.isPaced = isPaced;
  }

  /**
   * Starts threads that read the rows [first, first + count), in which {@code id} is the index.
   *
   * @return readers, closed by the caller
   */
  static RecoverReaders start(
      ResidentStore resident, long first, long count, int threads, long seed) {
    return start(resident, false, first, count, threads, seed);
  }

  /** Starts threads that pause between batches, so that they leave the processors to others. */
  static RecoverReaders paced(
      ResidentStore resident, long first, long count, int threads, long seed) {
    return start(resident, true, first, count, threads, seed);
  }

  private static RecoverReaders start(
      ResidentStore resident, boolean isPaced, long first, long count, int threads, long seed) {
    RecoverReaders readers = new RecoverReaders(resident.handle().attach(), isPaced);
    Random seeds = new Random(seed);
    for (int i = 0; i < threads; i++) {
      Loop loop = readers.new Loop(first, count, seeds.nextLong());
      readers.loops.add(loop);
      loop.thread.start();
    }
    return readers;
  }

  /**
   * Returns the longest pause of each reader in milliseconds since the last call, also if it has
   * not ended yet.
   */
  List<Double> longestPausesMillis() {
    return loops.stream()
        .map(loop -> (double) loop.takeLongestNs() / TimeUnit.MILLISECONDS.toNanos(1))
        .toList();
  }

  /** Returns the number of rows that differed from the expected ones. */
  long mismatches() {
    return loops.stream().mapToLong(loop -> loop.mismatches.get()).sum();
  }

  /**
   * Ends the threads.
   *
   * @throws DDStoreException if a read failed, or the calling thread is interrupted
   */
  @Override
  public void close() {
    isEnding = true;
    try {
      for (Loop loop : loops) {
        loop.thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while readers end", e);
    }
    store.close();
    for (Loop loop : loops) {
      if (loop.failure != null) {
        throw new DDStoreException("a reader failed: " + loop.failure, loop.failure);
      }
    }
  }

  /** The reads of one thread. */
  private final class Loop implements Runnable {
    private final Thread thread = new Thread(this, "ddstore-recover-reader");
    private final long first;
    private final long count;
    private final Random random;
    private final LongAccumulator longestNs = new LongAccumulator(Math::max, 0);
    private volatile long lastNs = System.nanoTime();
    private final AtomicLong mismatches = new AtomicLong();
    private volatile Throwable failure;

    Loop(long first, long count, long seed) {
      this.first = first;
      this.count = count;
      this.random = new Random(seed);
    }

    @Override
    public void run() {
      try (Reader reader = store.rows().reader()) {
        while (!isEnding) {
          long[] indices = random.longs(BATCH, first, first + count).toArray();
          try (Batch batch = reader.getBatch(indices)) {
            check(batch, indices);
          }
          long nowNs = System.nanoTime();
          longestNs.accumulate(nowNs - lastNs);
          lastNs = nowNs;
          if (isPaced) {
            Thread.sleep(PACE_MS);
          }
        }
      } catch (Throwable e) { // reported when the readers are closed
        failure = e;
      }
    }

    private void check(Batch batch, long... indices) {
      for (int i = 0; i < indices.length; i++) {
        if (batch.field("id").getLong(i) != indices[i]) {
          mismatches.incrementAndGet();
        }
      }
    }

    long takeLongestNs() {
      long openNs = System.nanoTime() - lastNs;
      return Math.max(longestNs.getThenReset(), openNs);
    }
  }
}
