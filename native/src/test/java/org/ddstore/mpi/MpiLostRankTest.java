package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One of three processes is killed while all read from each other. */
@Tag("system")
@NeedsMpi
@Timeout(120)
class MpiLostRankTest {
  private static final int RANKS = 3;
  private static final int LOST = 1;

  @Test
  void theOthersEndInTimeAndLeaveNothing() throws Exception {
    Path root = TestRoots.sharedMemory();
    List<Process> processes = new ArrayList<>();
    try {
      for (int rank = 0; rank < RANKS; rank++) {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of(LostRank.class.getName(), "" + rank, "" + RANKS, root.toString()));
        processes.add(
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
      }
      for (Process process : processes) {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertThat(out.readLine()).isEqualTo(LostRank.READING);
      }
      processes.get(LOST).destroyForcibly();

      for (Process process : processes) {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s has ended", process).isTrue();
      }
      for (int rank = 0; rank < RANKS; rank++) {
        if (rank != LOST) {
          assertEndedAsAnnounced(processes.get(rank));
        }
      }
      ProcessDirectory.sweepDead(root);
      try (Stream<Path> files = Files.list(root)) {
        assertThat(files.map(Path::getFileName).map(Path::toString))
            .as("files after the next process has swept")
            .allMatch(name -> name.startsWith("address-"));
      }
    } finally {
      processes.forEach(Process::destroyForcibly);
      for (Process process : processes) {
        process.waitFor();
      }
      TestRoots.delete(root);
    }
  }

  /** By the watchdog, or by an exception that says what to do. */
  private static void assertEndedAsAnnounced(Process process) throws IOException {
    String said = String.join("\n", process.inputReader(StandardCharsets.UTF_8).lines().toList());
    assertThat(process.exitValue())
        .as("status; it said: %s", said)
        .isIn(Mpi.HUNG_STATUS, LostRank.REFUSED);
  }
}
