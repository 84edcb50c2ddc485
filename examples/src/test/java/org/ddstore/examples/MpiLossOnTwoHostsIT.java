// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.ddstore.contract.Needed;
import org.ddstore.contract.ProcessTree;
import org.ddstore.contract.Stopped;
import org.ddstore.mpi.Mpi;
import org.ddstore.transport.Availability;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ranks that are lost on another host, where no other rank can see their process: reads from them
 * come to no end, and the job has to. Two hosts with a rank each, see {@link LossProgram}.
 */
@Timeout(value = 1800, unit = TimeUnit.SECONDS)
class MpiLossOnTwoHostsIT extends OnTwoHosts {
  private static final Path MPI_JAR =
      Path.of(System.getProperty("ddstore.root"), "native/mpi/build/mpi.jar");
  private static final int RANKS = 2;
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Duration EXECUTORS_LIMIT = Duration.ofMinutes(10);

  @TempDir private Path work;
  private Path notes;

  /** The host and the process that a rank has noted. */
  private record Place(String host, long pid) {}

  @BeforeAll
  static void requireMpi() {
    Availability mpi = Mpi.availability();
    Needed.check("MPI", mpi.isAvailable(), mpi::detail);
  }

  /** The second is alive and answers nothing: only the deadline of reads tells. */
  @Test
  void retriesAfterAKilledAndAfterAStoppedRank() throws Exception {
    notes = Files.createDirectory(work.resolve("notes"));
    Path err = work.resolve("err.txt");
    Path out = work.resolve("out.txt");
    try (ClusterOnTwoHosts cluster = ClusterOnTwoHosts.start(work, 1)) {
      SparkHome spark = SparkHome.current();
      ProcessBuilder driver =
          SparkHome.on(
              cluster.hosts().first(),
              spark.program(work, driverClasses(spark), arguments(cluster)));
      driver.redirectOutput(out.toFile()).redirectError(err.toFile());
      try (ProcessTree processes = ProcessTree.start(driver)) {
        loseBoth(cluster, processes, err);
      }
    }
    String said = Files.readString(err, UTF_8);
    assertThat(Files.readString(out, UTF_8).strip())
        .as(said)
        .isEqualTo("attempt 3: rank 0 has read all rows, attempt 3: rank 1 has read all rows");
    for (int attempt = 1; attempt <= LossProgram.LOSSES; attempt++) {
      String failed = "attempt %d of 4 on %d ranks failed".formatted(attempt, RANKS);
      assertThat(said.lines().filter(line -> line.contains(failed)))
          .as("lines with \"%s\" in %s", failed, said)
          .singleElement(InstanceOfAssertFactories.STRING)
          .contains("MPI membership is frozen: all executors of this world are replaced");
    }
  }

  private void loseBoth(ClusterOnTwoHosts cluster, ProcessTree driver, Path err) throws Exception {
    String host = cluster.hosts().second().address();
    List<Place> first = awaitAttempt(driver, 1, err);
    Set<Path> executorsOfFirst = standardErrors(cluster);
    assertThat(lost(first, host).destroyForcibly()).as("killed").isTrue(); // SIGKILL
    List<Place> second = awaitAttempt(driver, 2, err);
    awaitEnd(first);
    assertThat(pids(second)).doesNotContainAnyElementsOf(pids(first));

    Set<Path> executorsOfSecond = standardErrors(cluster);
    executorsOfSecond.removeAll(executorsOfFirst);
    try (AutoCloseable stopped = Stopped.stop(lost(second, host))) {
      assertThat(driver.awaitExit(LIMIT)).as(Files.readString(err, UTF_8)).isZero();
      assertThat(stopped).isNotNull();
      awaitEnd(second);
    }
    assertThat(pids(List.of(note(3, 0), note(3, 1))))
        .doesNotContainAnyElementsOf(pids(first))
        .doesNotContainAnyElementsOf(pids(second));
    assertThat(text(executorsOfSecond))
        .as("standard error of the executor of the second attempt on the first host")
        .contains("MPI does not come back from \"read of rows\"")
        .contains("this JVM is ended with status 86")
        .contains("MPI membership is frozen");
  }

  private static ProcessHandle lost(List<Place> places, String host) {
    Place lost = places.stream().filter(place -> place.host().equals(host)).findAny().orElseThrow();
    return ProcessHandle.of(lost.pid()).orElseThrow();
  }

  private static List<Long> pids(List<Place> places) {
    return places.stream().map(Place::pid).toList();
  }

  /** Also of the one that has lost nothing but its neighbour, and of one that cannot end itself. */
  private static void awaitEnd(List<Place> places) {
    for (Place place : places) {
      await("process %d of a failed attempt has ended".formatted(place.pid()))
          .atMost(EXECUTORS_LIMIT)
          .until(() -> !ProcessHandle.of(place.pid()).map(ProcessHandle::isAlive).orElse(false));
    }
  }

  /** Waits until both ranks of an attempt read. */
  private List<Place> awaitAttempt(ProcessTree driver, int attempt, Path err) throws IOException {
    return List.of(awaitNote(driver, attempt, 0, err), awaitNote(driver, attempt, 1, err));
  }

  private Place awaitNote(ProcessTree driver, int attempt, int rank, Path err) throws IOException {
    await("rank %d of attempt %d reads".formatted(rank, attempt))
        .atMost(LIMIT)
        .failFast(() -> !driver.isAlive())
        .until(() -> Files.exists(path(attempt, rank)));
    assertThat(driver.isAlive()).as(Files.readString(err, UTF_8)).isTrue();
    return note(attempt, rank);
  }

  private Place note(int attempt, int rank) throws IOException {
    String[] words = Files.readString(path(attempt, rank)).split(" ", -1);
    return new Place(words[0], Long.parseLong(words[1]));
  }

  private Path path(int attempt, int rank) {
    return notes.resolve(attempt + "." + rank);
  }

  /** The files of all executors that the first host has had. */
  private static Set<Path> standardErrors(ClusterOnTwoHosts cluster) throws IOException {
    try (Stream<Path> files = Files.walk(cluster.cluster().workDirectory(0))) {
      return files
          .filter(path -> path.endsWith("stderr"))
          .collect(Collectors.toCollection(HashSet::new));
    }
  }

  private static String text(Set<Path> files) throws IOException {
    StringBuilder text = new StringBuilder();
    for (Path file : files) {
      text.append(Files.readString(file, UTF_8));
    }
    return text.toString();
  }

  private static String driverClasses(SparkHome spark) throws Exception {
    return spark.classPath(ownClasses(), SparkHome.RUNTIME_JAR, MPI_JAR);
  }

  private static Path ownClasses() throws Exception {
    return Path.of(LossProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private List<String> arguments(ClusterOnTwoHosts cluster) throws Exception {
    String address = cluster.hosts().first().address();
    String executors = ownClasses() + File.pathSeparator + SparkHome.RUNTIME_JAR;
    return List.of(
        "-Dspark.driver.host=" + address,
        "-Dspark.driver.bindAddress=" + address,
        "-Dspark.ui.enabled=false",
        "-Dspark.executor.cores=1",
        "-Dspark.executor.memory=512m",
        "-Dspark.executor.extraClassPath=" + executors + File.pathSeparator + MPI_JAR,
        LossProgram.class.getName(),
        cluster.cluster().master(),
        Integer.toString(RANKS),
        notes.toString());
  }
}
