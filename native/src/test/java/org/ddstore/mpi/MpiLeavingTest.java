// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.MappedRegion;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A rank that closes before the others have come to it, as one does whose task has failed. */
@Tag("system")
@NeedsMpi
@Timeout(120)
class MpiLeavingTest {
  private static final String WORLD = "MpiLeavingTest.processes";

  private static final int RANKS = 3;
  private static final int FAILED = 1;
  private static final Duration TIME = Duration.ofMinutes(1);
  private static final Duration NO_PATIENCE = Duration.ofMillis(1);
  private static final Duration SHORT = Duration.ofSeconds(3);
  private static final byte[] NOTHING = {};

  private static MpiBackend backend;
  private static ProcessRanks processes;

  /** All tests but one use this world, so each also shows that the one before has not broken it. */
  @BeforeAll
  static void start() throws Exception {
    backend =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    processes = MpiBackend.world(RANKS, backend.root(), backend.lanes());
  }

  @AfterAll
  static void stop() throws Exception {
    processes.close();
  }

  @FunctionalInterface
  private interface Part extends Serializable {
    void run(RankEnv rank, MpiTransport mpi) throws Exception;
  }

  private static void run(Part part) throws Exception {
    MpiBackend mpis = backend;
    processes.run(RANKS, TIME, rank -> part.run(rank, mpis.join(rank.meeting())));
  }

  private static void await(String condition, BooleanSupplier isMet) {
    long deadlineNs = System.nanoTime() + TIME.toNanos();
    while (!isMet.getAsBoolean()) {
      assertThat(System.nanoTime()).as(condition).isLessThan(deadlineNs);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  @ResourceLock(WORLD)
  void othersReadTheRowsOfARankThatLeft() throws Exception {
    run(
        (rank, mpi) -> {
          long withoutStore = MappedRegion.liveBytes();
          DDStore store = DDStore.open(rank.group(), mpi, rank.options());
          store.add("x", Tensor.wrap(new long[] {rank.rank(), 10 + rank.rank()}));
          rank.meeting().tell(NOTHING);
          if (rank.rank() == FAILED) {
            store.close();
            mpi.close(NO_PATIENCE);
          }
          rank.meeting().tell(NOTHING); // it has closed
          if (rank.rank() != FAILED) {
            readOften(store);
            store.close();
            mpi.close();
          }
          rank.meeting().tell(NOTHING); // all have closed
          await("mapped bytes are given back", () -> MappedRegion.liveBytes() <= withoutStore);
        });
  }

  private static void readOften(DDStore store) {
    for (int turn = 0; turn < 300; turn++) {
      try (Batch batch = store.getBatch("x", 5, 3, 2, 0)) {
        assertThat(batch.field("x").toLongArray()).containsExactly(12, 11, 1, 0);
      }
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  @ResourceLock(WORLD)
  void releaseReportsARankThatLeft() throws Exception {
    run(
        (rank, mpi) -> {
          if (rank.rank() == FAILED) {
            mpi.close(NO_PATIENCE);
          } else {
            assertThatThrownBy(mpi::release)
                .isInstanceOf(DDStoreException.class)
                .hasMessageContaining("a rank of the group has failed and left it");
            mpi.close();
          }
        });
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  @ResourceLock(WORLD)
  void interruptEndsTheWaitForOthers() throws Exception {
    run(
        (rank, mpi) -> {
          if (rank.rank() == FAILED) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(mpi::release).hasMessageContaining("interrupted");
            mpi.close(NO_PATIENCE);
            assertThat(Thread.interrupted()).as("interrupted").isTrue();
          }
          rank.meeting().tell(NOTHING);
          if (rank.rank() != FAILED) { // its first call is still under way, its second one is not
            assertThatThrownBy(mpi::release).hasMessageContaining("failed and left");
            mpi.close();
          }
        });
  }

  /** As if the one that does not close were lost on another host: in a world of its own. */
  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void waitForARankThatNeverClosesHasADeadline() throws Exception {
    MpiBackend mpis =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks ranks = MpiBackend.world(RANKS, mpis.root(), mpis.lanes())) {
      ranks.run(
          RANKS,
          TIME,
          rank -> {
            MpiTransport mpi = mpis.join(rank.meeting(), SHORT);
            if (rank.rank() != FAILED) {
              mpi.close(NO_PATIENCE);
              assertThat(threads()).as("threads that wait for it").hasSize(1);
              awaitNoThread();
            }
            rank.meeting().tell(NOTHING); // they have given up
            if (rank.rank() == FAILED) {
              mpi.close();
              awaitNoThread();
            }
          });
    }
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter("ddstore-mpi-leave"::equals)
        .toList();
  }

  private static void awaitNoThread() {
    await("a thread that leaves has ended", () -> threads().isEmpty());
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  @ResourceLock(WORLD)
  void storesWorkAfterARankHasLeft() throws Exception {
    processes.run(RANKS, TIME, MpiLeavingTest::useAStore);
  }

  private static void useAStore(RankEnv rank) {
    try (DDStore store = rank.open()) {
      store.add("x", Tensor.wrap(new long[] {rank.rank(), 10 + rank.rank()}));
      readOften(store);
      rank.group().barrier();
    }
    rank.meet();
  }
}
