// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.ddstore.AttachedStore;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.collective.ReduceOp;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows that come in many pieces, read by a thread that is not a rank, while epochs change them. */
@Timeout(120)
@Tag("always")
public abstract class UpdatesContract {
  private static final int ROWS = 3;

  /** 1 MiB: four pieces and more. */
  private static final int WORDS = (1 << 17) + 1;

  private static final int READS = 60;
  private static final long MOST_WAIT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long PROBE_NS = TimeUnit.MICROSECONDS.toNanos(100);

  private final Function<Path, RankBackend> backend;

  /**
   * @param backend by the root of its files
   */
  protected UpdatesContract(Function<Path, RankBackend> backend) {
    this.backend = backend;
  }

  @Test
  void noRowIsTorn() throws Exception {
    Path root = Path.of("/dev/shm/ddstore-updates");
    try (TwoHostRanks ranks = TwoHostRanks.alternating(backend.apply(root))) {
      ranks.run(2, Duration.ofSeconds(60), UpdatesContract::play);
    }
  }

  /** Rank 1 updates its rows in each epoch, until a thread beside rank 0 has read enough. */
  private static void play(RankEnv rank) throws Exception {
    try (DDStore store = rank.open()) {
      store.init("x", rank.rank() == 1 ? ROWS : 0, DType.INT64, WORDS);
      try (Readers readers = rank.rank() == 0 ? new Readers(rank, store) : null) {
        long epoch = 0;
        long[] missing = {1};
        while (missing[0] > 0) {
          epoch++;
          if (rank.rank() == 1) {
            long[] rows = new long[ROWS * WORDS];
            Arrays.fill(rows, epoch);
            store.update("x", Tensor.wrap(rows, ROWS, WORDS), 0);
          }
          store.epochBegin();
          store.epochEnd();
          missing[0] = readers == null ? 0 : readers.missing();
          rank.group().allReduce(missing, ReduceOp.MAX);
        }
        assertThat(epoch).as("epochs").isGreaterThan(1);
        if (readers != null) {
          assertThat(readers.versions.get())
              .as("versions of rows that were read")
              .isGreaterThan(ROWS);
        }
      }
      rank.meet();
    }
  }

  /** The thread that is outside the group. */
  private static final class Readers implements AutoCloseable {
    private final AtomicLong reads = new AtomicLong();
    private final CompletableFuture<Void> end;
    private final AtomicLong versions = new AtomicLong();

    Readers(RankEnv rank, DDStore store) {
      AttachedStore attached = rank.attach(store.catalog());
      end =
          CompletableFuture.runAsync(
              () -> read(attached), task -> new Thread(task, "outside").start());
    }

    private void read(AttachedStore attached) {
      long[] last = new long[ROWS];
      try (attached;
          Reader reader = attached.variable("x").reader()) {
        while (reads.get() < READS || versions.get() <= ROWS) {
          try (Batch batch = reader.getBatch(2, 0, 1)) {
            long[] words = batch.field("x").toLongArray();
            for (int row = 0; row < ROWS; row++) {
              check(words, row, last);
            }
          }
          reads.incrementAndGet();
        }
      }
    }

    private void check(long[] words, int row, long[] last) {
      long version = words[row * WORDS];
      int from = row * WORDS;
      for (int i = from; i < from + WORDS; i++) {
        if (words[i] != version) {
          throw new AssertionError(
              "word %d of a row of epoch %d is of %d".formatted(i - from, version, words[i]));
        }
      }
      assertThat(version).as("it does not go back").isGreaterThanOrEqualTo(last[row]);
      versions.addAndGet(version > last[row] ? 1 : 0);
      last[row] = version;
    }

    /**
     * Reads that are to come, after one more: updates without a break would hold up all of them.
     */
    long missing() {
      long before = reads.get();
      long deadlineNs = System.nanoTime() + MOST_WAIT_NS;
      while (reads.get() == before && !end.isDone() && System.nanoTime() - deadlineNs < 0) {
        LockSupport.parkNanos(PROBE_NS);
      }
      return end.isDone() ? 0 : Math.max(1, READS - reads.get());
    }

    @Override
    public void close() {
      end.join();
    }
  }
}
