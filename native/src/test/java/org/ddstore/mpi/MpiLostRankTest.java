// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.Stopped;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One of three processes is killed, or stopped, while all read from each other. */
@Tag("system")
@NeedsMpi
@Timeout(180)
class MpiLostRankTest {
  private static final int RANKS = 3;
  private static final int LOST = 1;
  private static final String FROZEN =
      "MPI membership is frozen: all executors of this world have to be replaced";

  private final List<Process> processes = new ArrayList<>();

  @TempDir private Path sessions;

  @TempDir private Path logs;
  private Path root;

  @BeforeEach
  void makeRoot() throws IOException {
    root = TestRoots.sharedMemory();
  }

  @AfterEach
  void endAll() throws Exception {
    processes.forEach(Process::destroyForcibly);
    for (Process process : processes) {
      process.waitFor();
    }
    TestRoots.delete(root);
  }

  private void start(Duration callTimeout, Map<String, String> variables) throws IOException {
    for (int rank = 0; rank < RANKS; rank++) {
      List<String> command = new ArrayList<>(ChildJvm.command());
      command.addAll(
          List.of(
              LostRank.class.getName(),
              "" + rank,
              "" + RANKS,
              root.toString(),
              callTimeout.toString()));
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(log(rank).toFile());
      builder.environment().put("TMPDIR", sessions.toString());
      builder.environment().putAll(variables);
      processes.add(builder.start());
    }
    for (int rank = 0; rank < RANKS; rank++) {
      BufferedReader out = processes.get(rank).inputReader(StandardCharsets.UTF_8);
      assertThat(out.readLine()).as(Files.readString(log(rank))).isEqualTo(LostRank.READING);
    }
  }

  private Path log(int rank) {
    return logs.resolve("rank-" + rank);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void othersEndInTimeAndLeaveNoFilesWhenARankIsKilled() throws Exception {
    start(Duration.ofSeconds(15), Map.of());
    ProcessDirectory.sweepDead(root);
    assertThat(filesOfMpi()).as("files of live processes, which are not swept").hasSize(RANKS);
    processes.get(LOST).destroyForcibly(); // SIGKILL

    awaitEnd();
    for (int rank = 0; rank < RANKS; rank++) {
      if (rank != LOST) {
        assertEndedAsAnnounced(rank);
      }
    }
    assertNothingLeft();
  }

  /** If reads need the help of an owner that does not answer, only their deadline ends them. */
  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void othersEndAtTheDeadlineWhenARankIsStopped() throws Exception {
    Duration callTimeout = Duration.ofSeconds(5);
    start(callTimeout, Map.of("OMPI_MCA_osc", "pt2pt", "OMPI_MCA_btl", "vader,self"));
    List<Integer> statuses = new ArrayList<>();
    try (Stopped stopped = Stopped.stop(processes.get(LOST).toHandle())) {
      processes.remove(LOST);
      awaitEnd();
      for (Process process : processes) {
        statuses.add(process.exitValue());
      }
      assertThat(stopped).isNotNull();
    }
    assertThat(statuses).contains(Mpi.HUNG_STATUS).isSubsetOf(Mpi.HUNG_STATUS, LostRank.REFUSED);
    assertThat(Files.readString(log(0)) + Files.readString(log(2)))
        .contains("MPI does not come back from \"read of rows\". Nothing ends the call")
        .contains(FROZEN);
  }

  private void awaitEnd() throws InterruptedException {
    for (Process process : processes) {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s has ended", process).isTrue();
    }
  }

  private void assertEndedAsAnnounced(int rank) throws IOException {
    Process process = processes.get(rank);
    String out = String.join("\n", process.inputReader(StandardCharsets.UTF_8).lines().toList());
    String err = Files.readString(log(rank));
    if (process.exitValue() == LostRank.REFUSED) {
      assertThat(out)
          .startsWith("org.ddstore.types.FrozenMembershipException: read of rows: process ")
          .contains(" has ended. " + FROZEN);
    } else {
      assertThat(process.exitValue()).as("status; it said: %s%s", out, err).isEqualTo(86);
      assertThat(err)
          .containsPattern("MPI does not come back from \"read of rows\": process .* has ended")
          .contains("this JVM is ended with status 86. " + FROZEN);
    }
  }

  private void assertNothingLeft() throws IOException {
    ProcessDirectory.sweepDead(root);
    try (Stream<Path> files = Files.list(root)) {
      assertThat(files.map(Path::getFileName).map(Path::toString))
          .as("files after the next process has swept")
          .allMatch(name -> name.startsWith("address-"));
    }
    try (Stream<Path> files = Files.list(sessions)) {
      assertThat(files.filter(file -> !file.getFileName().toString().startsWith("hsperfdata")))
          .as("session directories of MPI")
          .isEmpty();
    }
  }

  private List<Path> filesOfMpi() throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("vader_segment"))
          .toList();
    }
  }
}
