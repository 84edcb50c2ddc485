// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.Scenario;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.ThreadCpu;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The thread that serves reads where MPI does not do so by itself, and what it costs. */
@Tag("system")
@NeedsMpi
@Timeout(180)
class MpiProgressTest {
  private static final int RANKS = 2;
  private static final Duration TIME = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofSeconds(3);
  private static final String THREAD = "ddstore-mpi-progress";
  private static final Map<String, String> PT2PT = Map.of("OMPI_MCA_osc", "pt2pt");
  private static final byte[] NOTHING = {};

  private static final int UNTIL_IDLE_SECONDS = 3;

  private static final int IDLE_SECONDS = 4;

  /** 3 % of a processor. It used 0.7 % in a minute: 40 and 42 ticks. */
  private static final long MOST_TICKS = IDLE_SECONDS * ThreadCpu.TICKS_PER_SECOND * 3 / 100;

  private static void run(Map<String, String> variables, Scenario scenario) throws Exception {
    MpiBackend backend =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks ranks =
        new ProcessRanks(backend, List.of(new LaunchedPlace(List.of(), variables)))) {
      ranks.run(RANKS, TIME, scenario);
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void idleThreadUsesAlmostNoCpu() throws Exception {
    run(
        PT2PT,
        rank -> {
          try (DDStore store = openAndRead(rank)) {
            ThreadCpu.ticksDuring(UNTIL_IDLE_SECONDS, THREAD);
            assertThat(ThreadCpu.ticksDuring(IDLE_SECONDS, THREAD))
                .as("ticks of the thread in %d s, with %s", IDLE_SECONDS, store)
                .isLessThan(MOST_TICKS);
            rank.group().barrier();
          }
          rank.meet();
        });
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void startsNoThreadIfReadsNeedNoHelp() throws Exception {
    run(
        Map.of(),
        rank -> {
          try (DDStore store = openAndRead(rank)) {
            assertThat(ThreadCpu.ticks(THREAD))
                .as("thread beside %s", store)
                .isEqualTo(OptionalLong.empty());
            rank.group().barrier();
          }
          rank.meet();
        });
  }

  /** UCX over shared memory and TCP, which no configuration file of Open MPI may forbid. */
  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void servesReadsByUcx() throws Exception {
    run(
        Map.of("OMPI_MCA_osc", "ucx"),
        rank -> {
          try (DDStore store = openAndRead(rank)) {
            assertThat(ThreadCpu.ticks(THREAD)).as("thread beside %s", store).isNotEmpty();
            rank.group().barrier();
          }
          rank.meet();
        });
  }

  /** As one whose task goes on although the job has failed. In processes without other windows. */
  @Test
  @Tag("slow")
  @Execution(ExecutionMode.CONCURRENT)
  void servesReadsAfterTheWaitAtCloseHasExpired() throws Exception {
    String root = TestRoots.sharedMemory().toString();
    MpiBackend mpis = new MpiBackend(root, TestRoots.sharedMemory().toString());
    FilesBackend files = new FilesBackend(Backing.SHM, root, mpis.lanes());
    try (ProcessRanks ranks =
        new ProcessRanks(files, List.of(new LaunchedPlace(List.of(), PT2PT)))) {
      assertThatThrownBy(() -> ranks.run(RANKS, TIME, rank -> readOn(rank, mpis)))
          .satisfies(
              thrown ->
                  assertThat(Stream.concat(Stream.of(thrown), Stream.of(thrown.getSuppressed())))
                      .as("only what has to stay in the memory of both")
                      .hasSize(RANKS)
                      .extracting(Throwable::getMessage)
                      .allMatch(text -> text.contains("live bytes off the heap and mapped")));
    }
  }

  private static void readOn(RankEnv rank, MpiBackend mpis) throws IOException {
    MpiTransport mpi = mpis.join(rank.meeting(), SHORT);
    DDStore store = DDStore.open(rank.group(), mpi, rank.options().shortcut(false));
    store.add("x", Tensor.wrap(new long[] {rank.rank(), 10 + rank.rank()}));
    rank.meeting().tell(NOTHING);
    if (rank.rank() == 0) {
      store.close();
      mpi.close(SHORT.multipliedBy(2)); // it stops to wait after half of it
    }
    rank.meeting().tell(NOTHING);
    if (rank.rank() == 1) {
      assertReads(store);
      store.close();
      mpi.close(SHORT.multipliedBy(2));
    }
    rank.meeting().tell(NOTHING);
    mpis.join(rank.meeting()).close(); // the world has not suffered
  }

  private static DDStore openAndRead(RankEnv rank) {
    DDStore store = rank.open();
    store.add("x", Tensor.wrap(new long[] {rank.rank(), 10 + rank.rank()}));
    assertReads(store);
    rank.group().barrier();
    return store;
  }

  private static void assertReads(DDStore store) {
    try (Batch batch = store.getBatch("x", 3, 2, 0)) {
      assertThat(batch.field("x").toLongArray()).containsExactly(11, 1, 0);
    }
  }
}
