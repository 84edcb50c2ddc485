package org.ddstore.cli;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.Utils$;
import org.ddstore.DDStoreException;

/**
 * The Spark of one command: the one that {@code spark-submit} prepared, else one of our own with
 * executors in JVMs of their own, bound to loopback, whose files are gone after {@link #close()}.
 * Owns the session.
 */
final class EmbeddedSpark implements AutoCloseable {
  private static final String LOOPBACK = "127.0.0.1";
  private static final String LOG_CONFIGURATION = "log4j2.configurationFile";
  private static final Duration EXECUTOR_EXIT = Duration.ofSeconds(20);
  private static final int DELETE_TRIES = 100;

  private final SparkSession session;

  /** Null if Spark is not ours. */
  private final Path scratch;

  private final Path workDirectory;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Thread closeAtExit = new Thread(this::closeQuietly, "ddstore-close-spark");

  private EmbeddedSpark(SparkSession session, Path scratch, Path workDirectory) {
    this.session = session;
    this.scratch = scratch;
    this.workDirectory = workDirectory;
    Runtime.getRuntime().addShutdownHook(closeAtExit);
  }

  /**
   * See {@link #open(String, int, int, int, Map)}, with no further settings.
   *
   * @param memoryMb heap of one executor
   */
  static EmbeddedSpark open(String appName, int executors, int coresEach, int memoryMb) {
    return open(appName, executors, coresEach, memoryMb, Map.of());
  }

  /**
   * Starts Spark. Sizes are ignored where {@code spark-submit} named a master.
   *
   * @param memoryMb heap of one executor
   * @param settings Spark's, applied last, in both cases
   */
  static EmbeddedSpark open(
      String appName, int executors, int coresEach, int memoryMb, Map<String, String> settings) {
    SparkSession.Builder builder = SparkSession.builder();
    if (isSubmitted()) {
      if (System.getProperty("spark.app.name") == null) {
        builder.appName(appName);
      }
      settings.forEach(builder::config);
      return new EmbeddedSpark(builder.getOrCreate(), null, null);
    }
    quietLogging();
    requireSparkHome();
    Utils$.MODULE$.setCustomHostname(LOOPBACK);
    Path scratch = createScratch();
    try {
      builder
          .appName(appName)
          .master("local-cluster[%d,%d,%d]".formatted(executors, coresEach, memoryMb))
          .config("spark.executor.memory", memoryMb + "m");
      configure(builder, scratch);
      settings.forEach(builder::config);
      SparkSession session = builder.getOrCreate();
      Path work = Path.of(System.getenv("SPARK_HOME"), "work");
      return new EmbeddedSpark(session, scratch, work);
    } catch (RuntimeException | Error e) {
      deleteTree(scratch);
      throw e;
    }
  }

  /** True if {@code spark-submit}, or the caller, has chosen a master. */
  static boolean isSubmitted() {
    return System.getProperty("spark.master") != null;
  }

  private static void configure(SparkSession.Builder builder, Path scratch) {
    builder
        .config("spark.driver.host", LOOPBACK)
        .config("spark.driver.bindAddress", LOOPBACK)
        .config("spark.local.dir", scratch.resolve("local").toString())
        .config("spark.sql.warehouse.dir", scratch.resolve("warehouse").toUri().toString())
        // Workers keep their files in SPARK_HOME/work/<application>: a name that no other run has.
        .config(
            "spark.deploy.appIdPattern", "ddstore-" + ProcessHandle.current().pid() + "-%s-%04d")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.locality.wait", "0")
        .config("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
        .config("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "40");
    Path code = ownCode();
    if (Files.isRegularFile(code)) {
      builder.config("spark.jars", code.toUri().toString());
    } else {
      // Run from class folders, by a test or an IDE.
      builder.config("spark.executor.extraClassPath", System.getProperty("java.class.path"));
    }
  }

  /** The runtime jar, or a folder of classes. */
  private static Path ownCode() {
    try {
      return Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Before the first class of Spark that logs: it would take the console otherwise. */
  private static void quietLogging() {
    if (System.getProperty(LOG_CONFIGURATION) == null) {
      System.setProperty(LOG_CONFIGURATION, "classpath:org/ddstore/cli/log4j2.properties");
    }
  }

  private static void requireSparkHome() {
    String home = System.getenv("SPARK_HOME");
    if (home == null || !new File(home, "jars").isDirectory()) {
      throw new DDStoreException(
          "SPARK_HOME is %s, which has no folder \"jars\": start by ./ddstore or by spark-submit"
              .formatted(home == null ? "not set" : home));
    }
  }

  private static Path createScratch() {
    try {
      return Files.createTempDirectory("ddstore-spark-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  SparkSession session() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return session;
  }

  /** A directory that lives as long as this, for data that a command makes. */
  Path scratch(String name) throws IOException {
    if (scratch == null) {
      throw new IllegalStateException(
          "no scratch directory is shared with the executors of " + this);
    }
    return Files.createDirectories(scratch.resolve(name));
  }

  /**
   * Stops Spark; where it is ours, waits for the executors to end and deletes what they left.
   *
   * @throws DDStoreException if an executor still runs after 20 seconds
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    removeHook();
    String application = session.sparkContext().applicationId();
    session.stop();
    if (scratch == null) {
      return;
    }
    try {
      // Workers run in this JVM, so that executors are its children.
      awaitExit(ProcessHandle.current().children().toList());
    } finally {
      deleteTree(workDirectory.resolve(application));
      deleteTree(scratch);
    }
  }

  private void closeQuietly() {
    try {
      close();
    } catch (RuntimeException e) {
      System.err.println("ddstore: " + e.getMessage());
    }
  }

  private void removeHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(closeAtExit);
    } catch (IllegalStateException e) {
      return; // the JVM ends already, and this may be the hook itself
    }
  }

  private static void awaitExit(List<ProcessHandle> processes) {
    try {
      CompletableFuture.allOf(
              processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
          .get(EXECUTOR_EXIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while executors end", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new DDStoreException(
          "executors still run %d s after Spark stopped: %s"
              .formatted(
                  EXECUTOR_EXIT.toSeconds(),
                  processes.stream()
                      .filter(ProcessHandle::isAlive)
                      .map(ProcessHandle::pid)
                      .toList()),
          e);
    }
  }

  /** Threads of Spark that end may still add or delete a file meanwhile: then again. */
  private static void deleteTree(Path directory) {
    IOException failure = null;
    for (int i = 0; i < DELETE_TRIES && Files.exists(directory); i++) {
      try {
        for (Path path : deepestFirst(directory)) {
          Files.deleteIfExists(path);
        }
      } catch (IOException e) {
        failure = e;
      }
    }
    if (Files.exists(directory)) {
      throw new UncheckedIOException("cannot delete " + directory, failure);
    }
  }

  private static List<Path> deepestFirst(Path directory) throws IOException {
    try (Stream<Path> walk = Files.walk(directory)) {
      return walk.sorted(Comparator.reverseOrder()).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  @Override
  public String toString() {
    return "EmbeddedSpark[%s]".formatted(scratch == null ? "from spark-submit" : scratch);
  }
}
