package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.Needed;
import org.ddstore.contract.ProcessTree;
import org.ddstore.contract.Stopped;
import org.ddstore.hosts.TwoHosts;
import org.ddstore.mpi.Mpi;
import org.ddstore.transport.Availability;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rank that is lost on another host, where no other rank can see its process: reads from it come
 * to no end, and the job has to. Two hosts with a rank each, see {@link LossProgram}.
 */
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class MpiLossOnTwoHostsIT extends OnTwoHosts {
  private static final Path MPI_JAR =
      Path.of(System.getProperty("ddstore.root"), "native/mpi/build/mpi.jar");
  private static final int RANKS = 2;
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration EXECUTORS_LIMIT = Duration.ofMinutes(1);

  @TempDir Path work;
  private Path notes;

  /** What a rank has noted. */
  private record Place(String host, long pid) {}

  /** What happens to a process; what it gives is closed when the job has ended. */
  @FunctionalInterface
  private interface Trouble {
    AutoCloseable strike(ProcessHandle process) throws Exception;
  }

  @BeforeAll
  static void onlyWhereMpiIs() {
    Availability mpi = Mpi.availability();
    Needed.check("MPI", mpi.isAvailable(), mpi::detail);
  }

  @Test
  void aRankThatIsKilledEndsTheAttempt() throws Exception {
    lose(
        process -> {
          assertThat(process.destroyForcibly()).as("killed").isTrue(); // SIGKILL
          return () -> {};
        });
  }

  /** It is alive and answers nothing: only the deadline of reads tells. */
  @Test
  void aRankThatIsStoppedEndsTheAttempt() throws Exception {
    String said = lose(Stopped::stop);

    assertThat(said)
        .as("standard error of the executors of the first host")
        .contains("MPI does not come back from \"read of rows\"")
        .contains("this JVM is ended with status 86")
        .contains("MPI membership is frozen");
  }

  /** Returns what the executors of the first host wrote to their standard error. */
  private String lose(Trouble trouble) throws Exception {
    notes = Files.createDirectory(work.resolve("notes"));
    try (TwoHosts hosts = TwoHosts.open()) {
      SparkHome spark = SparkHome.current();
      StandaloneCluster cluster = StandaloneCluster.start(spark, work, hosts, 1);
      try {
        Path folder = Files.createDirectory(work.resolve("driver"));
        Path err = folder.resolve("err.txt");
        Path out = folder.resolve("out.txt");
        ProcessBuilder driver =
            SparkHome.on(
                hosts.first(),
                spark.program(folder, driverClasses(spark), arguments(cluster, hosts)));
        driver.redirectOutput(out.toFile()).redirectError(err.toFile());
        try (ProcessTree processes = ProcessTree.start(driver)) {
          loseOne(processes, trouble, hosts.second().address(), err);
        }
        assertThat(Files.readString(out, UTF_8).strip())
            .as(Files.readString(err, UTF_8))
            .isEqualTo("attempt 2: rank 0 has read all rows, attempt 2: rank 1 has read all rows");
        assertThat(Files.readString(err, UTF_8))
            .contains("attempt 1 of 4 on 2 ranks failed")
            .contains("MPI membership is frozen: all executors of this world are replaced");
      } finally {
        cluster.stop();
      }
      return executorsSaid(cluster.workDirectory(0));
    }
  }

  private void loseOne(ProcessTree driver, Trouble trouble, String host, Path err)
      throws Exception {
    List<Place> first = List.of(awaitNote(driver, 1, 0, err), awaitNote(driver, 1, 1, err));
    Place lost = first.stream().filter(place -> place.host().equals(host)).findAny().orElseThrow();
    try (AutoCloseable struck = trouble.strike(ProcessHandle.of(lost.pid()).orElseThrow())) {
      assertThat(driver.awaitExit(LIMIT)).as(Files.readString(err, UTF_8)).isZero();
      assertThat(struck).isNotNull();
      // Also the one that has lost nothing but its neighbour, and the one that cannot end itself.
      for (Place place : first) {
        await("process %d of the first attempt has ended".formatted(place.pid()))
            .atMost(EXECUTORS_LIMIT)
            .until(() -> !ProcessHandle.of(place.pid()).map(ProcessHandle::isAlive).orElse(false));
      }
    }
    for (int rank = 0; rank < RANKS; rank++) {
      assertThat(note(2, rank).pid()).isNotIn(first.stream().map(Place::pid).toList());
    }
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

  private static String executorsSaid(Path work) throws IOException {
    StringBuilder said = new StringBuilder();
    try (var files = Files.walk(work)) {
      for (Path file : files.filter(path -> path.endsWith("stderr")).toList()) {
        said.append(Files.readString(file, UTF_8));
      }
    }
    return said.toString();
  }

  private static String driverClasses(SparkHome spark) throws Exception {
    return spark.classPath(ownClasses(), SparkHome.RUNTIME_JAR, MPI_JAR);
  }

  private static Path ownClasses() throws Exception {
    return Path.of(LossProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private List<String> arguments(StandaloneCluster cluster, TwoHosts hosts) throws Exception {
    String executors = ownClasses() + File.pathSeparator + SparkHome.RUNTIME_JAR;
    return List.of(
        "-Dspark.driver.host=" + hosts.first().address(),
        "-Dspark.driver.bindAddress=" + hosts.first().address(),
        "-Dspark.ui.enabled=false",
        "-Dspark.executor.cores=1",
        "-Dspark.executor.memory=512m",
        "-Dspark.executor.extraClassPath=" + executors + File.pathSeparator + MPI_JAR,
        LossProgram.class.getName(),
        cluster.master(),
        Integer.toString(RANKS),
        notes.toString());
  }
}
