package org.ddstore.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.deploy.LocalSparkCluster;
import org.apache.spark.deploy.LocalSparkCluster$;
import org.apache.spark.util.ShutdownHookManager;
import org.ddstore.types.DDStoreException;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * What a local cluster of this JVM makes outside it: a scratch directory, the folders in which its
 * workers keep the files of executors, and the executors, which are this JVM's children because the
 * workers run in it. Removes it all, also when the JVM is told to end.
 */
final class LocalClusterRemains implements AutoCloseable {
  /** Spark's workers give an executor 10 s to end, and 10 s more when they have killed it. */
  private static final Duration EXECUTOR_EXIT = Duration.ofSeconds(30);

  private static final Duration KILLED_EXIT = Duration.ofSeconds(10);

  private static final Duration STOP_CLUSTER = Duration.ofSeconds(20);

  /** A worker has one such thread for each executor, which starts it and lives as long as it. */
  private static final String EXECUTOR_RUNNER = "ExecutorRunner for ";

  /** Spark's own hooks run first: it stops its context at 50, deletes its directories at 25. */
  private static final int HOOK_PRIORITY = 10;

  private static final int DELETE_TRIES = 100;

  private final Path scratch;

  /** The application's name among the folders of all applications, but for its time and number. */
  private final String applicationPrefix = "ddstore-" + ProcessHandle.current().pid() + "-";

  private final Path workFolder;

  /** Children of this JVM that are none of Spark's. */
  private final Set<ProcessHandle> others =
      ProcessHandle.current().children().collect(Collectors.toSet());

  private final Object hook;

  private LocalClusterRemains(Path scratch, Path workFolder) {
    this.scratch = scratch;
    this.workFolder = workFolder;
    this.hook = ShutdownHookManager.addShutdownHook(HOOK_PRIORITY, this::removeAtExit);
  }

  /**
   * Makes a scratch directory; called before Spark starts.
   *
   * @param sparkHome where workers make their folder {@code work}
   */
  static LocalClusterRemains prepare(Path sparkHome) {
    try {
      return new LocalClusterRemains(
          ScratchDirectory.createUnowned("ddstore-spark-"), sparkHome.resolve("work"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A directory for files of Spark and of the command. */
  Path scratch() {
    return scratch;
  }

  /** Names the application so that its folders are known, for spark.deploy.appIdPattern. */
  String applicationIdPattern() {
    return applicationPrefix + "%s-%04d";
  }

  /**
   * Waits for the executors of a Spark that was stopped, also for those that a worker was about to
   * start, and deletes the files. Kills an executor that has not ended after 30 seconds.
   *
   * @throws DDStoreException if an executor still runs then
   */
  @Override
  public void close() {
    if (ShutdownHookManager.inShutdown()) {
      return; // the hook does this, and knows that the master may still start executors
    }
    synchronized (this) { // a hook that begins now waits
      try {
        endExecutors();
      } finally {
        deleteAll();
      }
    }
    if (!ShutdownHookManager.inShutdown()) {
      ShutdownHookManager.removeShutdownHook(hook);
    }
  }

  private void endExecutors() {
    stopCluster(); // a start of Spark that failed may have left it
    if (!awaitExit(EXECUTOR_EXIT)) {
      executors().forEach(ProcessHandle::destroyForcibly);
      if (!awaitExit(KILLED_EXIT)) {
        throw new DDStoreException(
            "executors still run %d s after Spark stopped: %s %s"
                .formatted(
                    EXECUTOR_EXIT.plus(KILLED_EXIT).toSeconds(), executors(), executorRunners()));
      }
    }
  }

  /** A context that was still starting is not stopped by its own hook, and starts executors. */
  private synchronized BoxedUnit removeAtExit() {
    stopCluster();
    long deadlineNs = System.nanoTime() + EXECUTOR_EXIT.toNanos();
    do {
      executors().forEach(ProcessHandle::destroyForcibly);
    } while (!awaitExit(Duration.ofMillis(10)) && System.nanoTime() < deadlineNs);
    deleteAll();
    return BoxedUnit.UNIT;
  }

  private List<ProcessHandle> executors() {
    return ProcessHandle.current().children().filter(child -> !others.contains(child)).toList();
  }

  /** The threads of workers that start executors, or have started one. */
  private static List<Thread> executorRunners() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(EXECUTOR_RUNNER))
        .toList();
  }

  /**
   * Ends the workers and the master of this JVM, if it still has some: the master would start
   * another executor for each that is killed.
   */
  private static void stopCluster() {
    Option<LocalSparkCluster> cluster = LocalSparkCluster$.MODULE$.get();
    if (cluster.isEmpty()) {
      return;
    }
    Thread stop = new Thread(cluster.get()::stop, "ddstore-stop-cluster");
    stop.setDaemon(true);
    stop.start();
    try {
      stop.join(STOP_CLUSTER.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for the executors, and first for the threads that start them: a worker that is told to
   * stop while it starts an executor ends the executor after it has come to life.
   *
   * @return false if one still runs at the deadline
   */
  private boolean awaitExit(Duration limit) {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    try {
      while (true) {
        List<Thread> runners = executorRunners();
        List<ProcessHandle> executors = executors();
        if (runners.isEmpty() && executors.isEmpty()) {
          return true;
        }
        for (Thread runner : runners) {
          long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
          if (leftMs <= 0) {
            return false;
          }
          runner.join(leftMs);
        }
        CompletableFuture<?>[] exits =
            executors.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(exits)
            .get(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  private void deleteAll() {
    List<Path> directories = new ArrayList<>(List.of(scratch));
    if (Files.exists(workFolder)) {
      try (DirectoryStream<Path> applications =
          Files.newDirectoryStream(workFolder, applicationPrefix + "*")) {
        applications.forEach(directories::add);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    directories.forEach(LocalClusterRemains::deleteTree);
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
    return "LocalClusterRemains[%s, %s*]".formatted(scratch, workFolder.resolve(applicationPrefix));
  }
}
