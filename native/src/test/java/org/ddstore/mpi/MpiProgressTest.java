package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.Scenario;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.ThreadCpu;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that serves reads where MPI does not do so by itself, and what it costs. */
@Tag("system")
@NeedsMpi
@Timeout(180)
class MpiProgressTest {
  private static final int RANKS = 2;
  private static final Duration TIME = Duration.ofMinutes(1);
  private static final String THREAD = "ddstore-mpi-progress";

  /** Without readers it sleeps 5 ms between two looks from then on. */
  private static final int UNTIL_IDLE_SECONDS = 3;

  private static final int IDLE_SECONDS = 4;

  /** A tenth of a processor; it uses about a hundredth. */
  private static final long MOST_TICKS = IDLE_SECONDS * ThreadCpu.TICKS_PER_SECOND / 10;

  /** This host, with variables by which the user chooses what MPI does. */
  private record Chosen(Map<String, String> variables) implements Place {
    @Override
    public String name() {
      return HERE.name();
    }

    @Override
    public String address() {
      return HERE.address();
    }

    @Override
    public ProcessBuilder command(List<String> command) {
      ProcessBuilder process = HERE.command(command);
      process.environment().putAll(variables);
      return process;
    }

    @Override
    public Path path(String absolute) {
      return HERE.path(absolute);
    }
  }

  private static void run(Map<String, String> variables, Scenario scenario) throws Exception {
    MpiBackend backend =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks ranks = new ProcessRanks(backend, List.of(new Chosen(variables)))) {
      ranks.run(RANKS, TIME, scenario);
    }
  }

  @Test
  void itUsesAlmostNothingWhileNobodyReads() throws Exception {
    run(
        Map.of("OMPI_MCA_osc", "pt2pt"),
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
  void thereIsNoneWhereReadsNeedNoHelp() throws Exception {
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
  void readsByUcxAreServed() throws Exception {
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

  private static DDStore openAndRead(RankEnv rank) {
    DDStore store = rank.open();
    store.add("x", Tensor.wrap(new long[] {rank.rank(), 10 + rank.rank()}));
    try (Batch batch = store.getBatch("x", 3, 2, 0)) {
      assertThat(batch.field("x").toLongArray()).containsExactly(11, 1, 0);
    }
    rank.group().barrier();
    return store;
  }
}
