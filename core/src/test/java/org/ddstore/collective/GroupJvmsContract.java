package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.Stopped;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that are processes; each prints what it got, see {@link RankProcess}. */
@Tag("system")
@Timeout(120)
abstract class GroupJvmsContract {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofSeconds(3);

  private final Means.Kind means;
  private final List<Process> processes = new ArrayList<>();
  private final List<TestDirectory> hosts = new ArrayList<>();
  @TempDir private Path meeting;

  GroupJvmsContract(Means.Kind means) {
    this.means = means;
  }

  @BeforeEach
  void createDirectories() throws IOException {
    hosts.add(TestDirectory.create());
    hosts.add(TestDirectory.create());
  }

  /** Also a rank that was killed leaves no file. */
  @AfterEach
  void endAllAndFindNothing() throws Exception {
    for (Process process : processes) {
      process.getOutputStream().close(); // who still holds gives up
    }
    for (Process process : processes) {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
    for (TestDirectory host : hosts) {
      host.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void ranksExchangeBytes(int size) throws Exception {
    long seed = CommunicatorContract.seed();
    for (int r = 0; r < size; r++) {
      start(Integer.toString(r), size, LONG, seed, "work");
    }
    for (int r = 0; r < size; r++) {
      assertThat(line(r))
          .as("rank %d, seed %d", r, seed)
          .isEqualTo(RankProcess.expected(seed, size));
      assertEnded(r);
    }
  }

  @Test
  void processesHaveTwoRanksEach() throws Exception {
    long seed = CommunicatorContract.seed();
    start("0,2", 4, LONG, seed, "work");
    start("1,3", 4, LONG, seed, "work");
    for (int line = 0; line < 2; line++) {
      for (int process = 0; process < 2; process++) {
        assertThat(line(process)).as("seed %d", seed).isEqualTo(RankProcess.expected(seed, 4));
      }
    }
    assertEnded(0);
    assertEnded(1);
  }

  @Test
  void aRankThatIsStoppedIsNamedAtTheDeadline() throws Exception {
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
    // In its first barrier, or in the second: it may see that rank 0 came before that it gave up.
    assertThat(line(1)).startsWith(DeadlineExceededException.class.getName());
  }

  @Test
  void aRankThatIsKilledIsLostToTheOthers() throws Exception {
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
  void aRankThatDoesNotComeIsNamedAndFailsWhenItDoes() throws Exception {
    // Twice: a message that rank 0 came may overtake the news that it gave up.
    startAll(SHORT, "start then barrier", "hold then barrier");
    assertThat(line(1)).isEqualTo("holding");
    String late =
        "not all 2 ranks arrived in call 3 within 3000 ms: rank 1 finished call 2, awaitAll(start),"
            + " and has not called again";
    assertThat(line(0))
        .isEqualTo(DeadlineExceededException.class.getName() + ": barrier(): " + late);
    release(1);
    assertThat(line(1)).startsWith(DeadlineExceededException.class.getName()).contains("call 3");
  }

  @Test
  void differentCallsAreNamed() throws Exception {
    startAll(LONG, "barrier", "reduce", "barrier");
    for (int r = 0; r < 3; r++) {
      assertThat(line(r))
          .startsWith(CollectiveMismatchException.class.getName())
          .contains("rank 0 called barrier()")
          .contains("rank 1 called allReduce(float32[3], SUM)");
    }
  }

  @Test
  void anErrorIsRaisedOnAllRanks() throws Exception {
    startAll(LONG, "barrier", "barrier", "throw");
    for (int r = 0; r < 3; r++) {
      assertThat(line(r))
          .startsWith(RankFailedException.class.getName())
          .contains("rank 2 failed")
          .contains("boom");
    }
  }

  @Test
  void abortIsRaisedOnAllRanks() throws Exception {
    startAll(LONG, "abort", "barrier", "barrier");
    for (int r = 0; r < 3; r++) {
      assertThat(line(r))
          .startsWith(RankFailedException.class.getName())
          .contains("rank 0 gave up")
          .contains("boom");
    }
  }

  @Test
  void closeIsRaisedOnTheOtherRanks() throws Exception {
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
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.addAll(
        List.of(
            RankProcess.class.getName(),
            meeting.toString(),
            hosts.get(means == Means.Kind.MIXED ? processes.size() % 2 : 0).root().toString(),
            means.name(),
            ranks,
            Integer.toString(size),
            Long.toString(timeout.toMillis()),
            Long.toString(seed),
            what));
    processes.add(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  private String line(int rank) throws IOException {
    BufferedReader out = processes.get(rank).inputReader(StandardCharsets.UTF_8);
    return out.readLine();
  }

  private void release(int rank) throws IOException {
    OutputStream in = processes.get(rank).getOutputStream();
    in.write('\n');
    in.flush();
  }

  private void assertEnded(int rank) throws InterruptedException {
    assertThat(processes.get(rank).waitFor(60, TimeUnit.SECONDS))
        .as("rank %d ended", rank)
        .isTrue();
    assertThat(processes.get(rank).exitValue()).as("exit status of rank %d", rank).isZero();
  }
}
