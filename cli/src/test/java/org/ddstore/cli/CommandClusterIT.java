// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.MountNamespace;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.SparkArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands that start a Spark of their own: as a user runs them, by the launcher, and in this JVM.
 * None of their executors outlives them, whichever way they end.
 */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class CommandClusterIT {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @TempDir private Path work;

  /**
   * Runs the first example of the README with fewer rows, and with file sources whose row positions
   * the demo cannot request. Driver and executors start from the archive of the tests.
   */
  @Test
  void launcherDemoReadsTheRowsOfSparkSql() throws IOException, InterruptedException {
    boolean isArchived = SparkArchive.isAvailable(); // ExecutorArchiveTest tells why not
    Path classes = Files.createDirectory(work.resolve("classes"));
    Launcher launcher = new Launcher(work);
    launcher.set("spark.sql.sources.useV1SourceList", "");
    launcher.javaOption("-Xlog:class+load:file=" + classes.resolve("%p.log"));

    Outcome outcome = launcher.command("demo --executors 4 --rows 20000 --seconds 0.2");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .contains("Wrote    20,000 rows as 8 Parquet files")
        .contains("into 4 executors")
        .containsPattern("(?m)^points +float32\\[\\?, 2\\]")
        .contains(" 0 mismatches in", "Next ")
        .containsPattern("(?m)^ +3  [0-3] +5000 ")
        .containsPattern("random rows: [1-5]\\d % own process, [4-8]\\d % same host, 0 % remote");
    if (isArchived) {
      assertArchiveIsMapped(classes, 1 + 4);
    }
  }

  @Test
  void namesTheTemporaryDirectoryWithoutExecution() throws IOException, InterruptedException {
    Launcher launcher = new Launcher(work);
    ProcessBuilder demo = launcher.builder("demo");
    List<String> command = MountNamespace.of(launcher.temporary(), "noexec \"$0\"");
    command.addAll(demo.command());

    Outcome refused = launcher.execute(demo.command(command));

    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err())
        .contains("ddstore: execution is not allowed in " + launcher.temporary())
        .contains("set another directory by TMPDIR");
    Path other = Files.createDirectory(work.resolve("other"));
    demo.environment().put("TMPDIR", other.toString());
    Outcome loaded = launcher.execute(demo);
    assertThat(loaded.exitCode()).as(loaded.err()).isZero();
    assertThat(other).isEmptyDirectory();
  }

  /** Fails unless the JVMs of Spark have loaded their classes from the dynamic archive. */
  private static void assertArchiveIsMapped(Path logs, int jvms) throws IOException {
    try (Stream<Path> files = Files.list(logs)) {
      assertThat(files)
          .filteredOn(log -> linesWith(log, "org.apache.spark.SparkEnv ") > 0)
          .hasSize(jvms)
          .allSatisfy(
              log -> assertThat(linesWith(log, "shared objects file (top)")).isGreaterThan(2_000));
    }
  }

  private static long linesWith(Path log, String text) {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.filter(line -> line.contains(text)).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Fails as soon as Spark has started, while its workers still start executors. This JVM goes on
   * and would see executors that come later.
   */
  @Test
  void errorEndsStartingExecutors() throws IOException {
    Path empty = Files.createDirectory(work.resolve("empty"));

    assertNoData(InProcess.run("get", "--input", empty.toString(), "--indices", "0"), empty);

    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  private static void assertNoData(Outcome outcome, Path input) {
    CommandsIT.assertError(
        outcome, "ddstore: --input %s: the folder has no files".formatted(input));
  }

  @Test
  void interruptWhileSparkStartsLeavesNothing() throws IOException {
    Path empty = Files.createDirectory(work.resolve("empty"));
    Thread.currentThread().interrupt();
    try {
      Outcome outcome = InProcess.run("get", "--input", empty.toString(), "--indices", "0");

      assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(1);
      assertThat(outcome.out()).isEmpty();
    } finally {
      Thread.interrupted(); // nothing of it for the next test
    }
  }

  /** A demo that would read for an hour. */
  @Test
  @Tag("slow")
  void interruptEndsReadingRanks() throws IOException {
    Thread command = Thread.currentThread();
    CompletableFuture<Void> interrupt =
        CompletableFuture.runAsync(
            () -> {
              await("store").atMost(PATIENCE).until(CommandClusterIT::executorHasAStore);
              command.interrupt();
            });
    try {
      Outcome outcome =
          InProcess.command("demo --executors 1 --ranks 1 --rows 1000 --seconds 3600 --json");

      assertThat(interrupt).as("interrupted").isCompleted();
      assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(1);
      assertThat(outcome.out()).isEmpty();
    } finally {
      Thread.interrupted();
    }
  }

  private static boolean executorHasAStore() {
    Set<Long> executors =
        ProcessHandle.current().children().map(ProcessHandle::pid).collect(Collectors.toSet());
    return !Leftovers.directoriesOf(executors).isEmpty();
  }

  /** Scans of 64 ranks would not fit the heap of their executor at the same time. */
  @Test
  @Tag("slow")
  void demoReadsTheRowsOfMoreRanksThanScansFit() throws IOException {
    Outcome outcome = InProcess.command("demo --ranks 128 --rows 51200 --seconds 0.2 --json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.json().get("mismatches").asLong()).isZero();
  }

  /** The executor is stopped, so it is killed, and cannot delete its files. */
  @Test
  @Tag("slow")
  void terminationDeletesTheFilesOfAKilledExecutor() throws IOException, InterruptedException {
    Outcome outcome =
        new Launcher(work)
            .bash(
                """
                %s/ddstore demo --executors 1 --ranks 2 --rows 1000 --seconds 3600 &
                until ls -d /dev/shm/ddstore-*-"$(pgrep -P $!)"-* 2>>ls.txt; do sleep 0.1; done
                pkill -STOP -P $!
                kill $!
                wait $! || echo "status $?"
                """
                    .formatted(System.getProperty("ddstore.root")));

    assertThat(outcome.out()).as(outcome.err()).endsWith("status 143\n");
  }
}
