// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.Stopped;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranks that are processes; each prints what it got, see {@link RankProcess}. The processes serve
 * all tests of the class.
 */
@Tag("system")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("always")
abstract class GroupJvmsContract {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static final Duration SHORT = Duration.ofMillis(500);

  private static final long PATIENCE_S = 60;

  private final Means.Kind means;
  private final Deque<Process> idle = new ArrayDeque<>();
  private final List<Process> processes = new ArrayList<>();
  private final List<TestDirectory> hosts = new ArrayList<>();
  private Path meeting;

  GroupJvmsContract(Means.Kind means) {
    this.means = means;
  }

  @BeforeEach
  void createDirectories(@TempDir Path directory) throws IOException {
    meeting = directory;
    hosts.add(TestDirectory.create());
    hosts.add(TestDirectory.create());
  }

  /** Also a rank that was killed leaves no file. */
  @AfterEach
  void endAllAndAssertNoFiles() throws Exception {
    for (Process process : processes) {
      try {
        CompletableFuture.runAsync(() -> awaitDone(process)).get(PATIENCE_S, TimeUnit.SECONDS);
        idle.add(process);
      } catch (ExecutionException | TimeoutException e) { // killed, or the test failed
        process.destroyForcibly().waitFor();
      }
    }
    processes.clear();
    try {
      for (TestDirectory host : hosts) {
        host.close();
      }
    } finally {
      hosts.clear();
    }
  }

  private static void awaitDone(Process process) {
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    try {
      String line = out.readLine();
      while (!RankProcess.DONE.equals(line)) {
        if (line == null) {
          throw new EOFException("process " + process.pid() + " has ended");
        }
        line = out.readLine();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @AfterAll
  void endProcesses() throws Exception {
    for (Process process : idle) {
      process.getOutputStream().close();
    }
    for (Process process : idle) {
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      assertThat(process.exitValue()).as("exit status of process %d", process.pid()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void ranksExchangeBytes(int size) throws Exception {
    long seed = CommunicatorContract.seed();
    for (int r = 0; r < size; r++) {
      start(Integer.toString(r), size, LONG, seed, "work");
    }
    String expected = RankProcess.expected(seed, size);
    for (int r = 0; r < size; r++) {
      assertThat(line(r)).as("rank %d, seed %d", r, seed).isEqualTo(expected);
    }
  }

  @Test
  void ranksThatShareProcessesExchangeBytes() throws Exception {
    long seed = CommunicatorContract.seed();
    start("0,2", 4, LONG, seed, "work");
    start("1,3", 4, LONG, seed, "work");
    String expected = RankProcess.expected(seed, 4);
    for (int line = 0; line < 2; line++) {
      for (int process = 0; process < 2; process++) {
        assertThat(line(process)).as("seed %d", seed).isEqualTo(expected);
      }
    }
  }

  @Test
  void namesAStoppedRankAtTheDeadline() throws Exception {
    startAll(SHORT, "hold", "hold then barrier");
    assertThat(line(0)).isEqualTo("holding");
    assertThat(line(1)).isEqualTo("holding");
    try (Stopped stopped = Stopped.stop(processes.get(1).toHandle())) {
      release(0);
      release(1);
      assertThat(line(0))
          .startsWith(DeadlineExceededException.class.getName())
          .contains("rank 1 ")
          .contains("call 2, awaitAll(start)");
      stopped.proceed();
    }
    // In its first barrier, or in the second: it may see that rank 0 came before that it aborted.
    assertThat(line(1)).startsWith(DeadlineExceededException.class.getName());
  }

  @Test
  void reportsAKilledRankAsLost() throws Exception {
    startAll(LONG, "hold", "hold", "hold");
    for (int r = 0; r < 3; r++) {
      assertThat(line(r)).isEqualTo("holding");
    }
    release(0);
    release(2);
    processes.get(1).destroyForcibly();
    for (int r : new int[] {0, 2}) {
      assertThat(line(r))
          .startsWith(RankLostException.class.getName())
          .contains("the process of rank 1 has ended; it finished call 2, awaitAll(start)");
    }
  }

  @Test
  void namesALateRankWhichFailsOnArrival() throws Exception {
    // Twice: a message that rank 0 came may overtake the news that it aborted.
    startAll(SHORT, "start then barrier", "hold then barrier");
    assertThat(line(1)).isEqualTo("holding");
    String late =
        "not all 2 ranks arrived in call 3 within 500 ms: rank 1 finished call 2, awaitAll(start),"
            + " and has not called again";
    assertThat(line(0))
        .isEqualTo(DeadlineExceededException.class.getName() + ": barrier(): " + late);
    release(1);
    assertThat(line(1)).startsWith(DeadlineExceededException.class.getName()).contains("call 3");
  }

  @ParameterizedTest
  @CsvSource({
    "barrier reduce barrier, CollectiveMismatchException, rank 0 called barrier(), 'rank 1 called allReduce(float32[3], SUM)'",
    "barrier barrier throw, RankFailedException, rank 2 failed, boom",
    "abort barrier barrier, RankFailedException, rank 0 aborted its collectives, boom"
  })
  void raisesAFailureOnAllRanks(String work, String type, String cause, String detail)
      throws Exception {
    startAll(LONG, work.split(" "));
    for (int r = 0; r < 3; r++) {
      assertThat(line(r)).startsWith("org.ddstore.types." + type).contains(cause, detail);
    }
  }

  @Test
  void raisesCloseOnTheOtherRanks() throws Exception {
    startAll(LONG, "barrier", "close", "barrier");
    for (int r : new int[] {0, 2}) {
      assertThat(line(r))
          .startsWith(RankFailedException.class.getName())
          .contains("rank 1 closed its communicator");
    }
    assertThat(line(1)).startsWith("java.lang.IllegalStateException: closed: ");
  }

  private void startAll(Duration timeout, String... work) throws IOException {
    for (int r = 0; r < work.length; r++) {
      start(Integer.toString(r), work.length, timeout, 0, work[r]);
    }
  }

  private void start(String ranks, int size, Duration timeout, long seed, String what)
      throws IOException {
    Process process = idle.isEmpty() ? startProcess() : idle.remove();
    String task =
        String.join(
            "\t",
            meeting.toString(),
            hosts.get(means == Means.Kind.MIXED ? processes.size() % 2 : 0).root().toString(),
            means.name(),
            ranks,
            Integer.toString(size),
            Long.toString(timeout.toMillis()),
            Long.toString(seed),
            what);
    processes.add(process);
    write(process, task);
  }

  private static Process startProcess() throws IOException {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.add(RankProcess.class.getName());
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static void write(Process process, String line) throws IOException {
    OutputStream in = process.getOutputStream();
    in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    in.flush();
  }

  private String line(int rank) throws IOException {
    BufferedReader out = processes.get(rank).inputReader(StandardCharsets.UTF_8);
    return out.readLine();
  }

  private void release(int rank) throws IOException {
    write(processes.get(rank), "go on");
  }
}
