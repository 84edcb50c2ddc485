// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.ddstore.contract.ProcessTree;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.mpirun.MpiRun;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that mpirun has started on this host, without Spark. */
@Tag("system")
@NeedsMpi
@Timeout(300)
class MpirunTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path directory;

  private record Ended(int status, String err) {}

  private Ended run(int ranks, String... arguments) throws Exception {
    Path sessions = Files.createDirectory(directory.resolve("sessions"));
    Path err = directory.resolve("err");
    ProcessBuilder program =
        new ProcessBuilder(Mpirun.command(ranks, sessions, List.of(), List.of(arguments)))
            .redirectError(err.toFile());
    try (ProcessTree processes = ProcessTree.start(program)) {
      int status = processes.awaitExit(LIMIT);
      processes.awaitAll(LIMIT);
      // A process that was killed leaves its directory to the next one of its user.
      ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
      processes.assertNothingLeft();
      assertThat(sessions).as("files of mpirun left").isEmptyDirectory();
      return new Ended(status, Files.readString(err, UTF_8));
    }
  }

  @Test
  void ranksReadEachOtherByMemoryAndByWindows() throws Exception {
    ranksReadEachOther(4);
  }

  @Test
  @Tag("slow")
  void aSingleRankReadsItself() throws Exception {
    ranksReadEachOther(1);
  }

  private void ranksReadEachOther(int ranks) throws Exception {
    Ended ended = run(ranks, "read", directory.toString());

    assertThat(ended.status()).as(ended.err()).isZero();
    RowsRead.check(directory, ranks, "own \\d+, same host \\d+, remote 0");
  }

  @Test
  void closedStoresLeaveNothing() throws Exception {
    closedStoresLeaveNothing("no-shortcut");
  }

  @Test
  @Tag("slow")
  void closedStoresOfSharedMemoryLeaveNothing() throws Exception {
    closedStoresLeaveNothing("shortcut");
  }

  private void closedStoresLeaveNothing(String shortcut) throws Exception {
    Ended ended = run(2, "stores", directory.toString(), shortcut);

    assertThat(ended.status()).as(ended.err()).isZero();
    RowsRead.checkHeld(directory, 2);
  }

  @Test
  void failureReachesAllRanks() throws Exception {
    Ended ended = run(3, "fail-together", directory.toString());

    assertThat(ended.status()).as(ended.err()).isEqualTo(MpiRun.FAILED);
    assertThat(ended.err())
        .contains("rank 1 of 3: java.lang.IllegalStateException: the sample 17 is bad")
        .contains("\tat " + RankProgram.class.getName())
        .containsPattern(
            "rank [02] of 3: org.ddstore.types.RankFailedException: barrier\\(\\).*: rank 1"
                + " aborted its collectives: java.lang.IllegalStateException: the sample 17 is bad");
  }

  @Test
  @Tag("slow")
  void failureEndsRanksOutsideOfCollectives() throws Exception {
    Ended ended = run(3, "fail-alone", directory.toString());

    assertThat(ended.status()).as(ended.err()).isEqualTo(MpiRun.FAILED);
    assertThat(ended.err())
        .contains("rank 1 of 3: java.lang.IllegalStateException: the sample 18 is bad");
  }

  @Test
  @Tag("slow")
  void deathOfARankEndsAllRanks() throws Exception {
    Ended ended = run(3, "die", directory.toString());

    assertThat(ended.status()).as(ended.err()).isEqualTo(RankProgram.DEATH);
  }

  @Test
  void aProcessWithoutMpirunIsToldHowToStart() throws IOException, InterruptedException {
    assertThat(errorOutsideOfMpirun("NOTHING"))
        .contains("this process was not started by mpirun of Open MPI (OMPI_COMM_WORLD_SIZE is not")
        .contains("mpirun -n 4 java ..");
  }

  @Test
  void rejectsRanksOfMpich() throws IOException, InterruptedException {
    assertThat(errorOutsideOfMpirun("PMI_SIZE"))
        .contains("not started by mpirun of Open MPI (PMI_SIZE is set")
        .contains("use mpirun of Open MPI 4");
  }

  private String errorOutsideOfMpirun(String variable) throws IOException, InterruptedException {
    Path err = directory.resolve("err");
    ProcessBuilder program =
        new ProcessBuilder(Mpirun.program(List.of("read", "."))).redirectError(err.toFile());
    program.environment().put(variable, "1");
    try (ProcessTree process = ProcessTree.start(program)) {
      assertThat(process.awaitExit(LIMIT)).isEqualTo(MpiRun.FAILED);
      process.assertNothingLeft();
    }
    return Files.readString(err, UTF_8);
  }
}
