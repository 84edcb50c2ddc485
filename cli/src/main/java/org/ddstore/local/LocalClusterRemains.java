// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.DDStoreException;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * The resources that a local cluster of this JVM leaves outside it: a scratch directory, the
 * workers' folders with files of executors, and the executors, which are children of this JVM
 * because the workers run in it. Killed executors also leave the files of their segments. {@link
 * #close()} removes all of them, as does a shutdown hook.
 */
final class LocalClusterRemains implements AutoCloseable {
  /** Spark's workers allow an executor 10 s to exit, and 10 s more after killing it. */
  private static final Duration EXECUTOR_EXIT = Duration.ofSeconds(30);

  private static final Duration KILLED_EXIT = Duration.ofSeconds(10);

  private static final Duration STOP_CLUSTER = Duration.ofSeconds(20);

  /** Name prefix of the worker's thread that starts an executor and lives as long as it. */
  private static final String EXECUTOR_RUNNER = "ExecutorRunner for ";

  /** Below Spark's hooks: 50 stops the context, 25 deletes directories; higher ones run first. */
  private static final int HOOK_PRIORITY = 10;

  private static final int DELETE_TRIES = 100;

  private final Path scratch;

  /** Prefix of the application's folder name, without its time and number. */
  private final String applicationPrefix = "ddstore-" + ProcessHandle.current().pid() + "-";

  private final Path workFolder;

  /** Children of this JVM that do not belong to Spark. */
  private final Set<ProcessHandle> others =
      ProcessHandle.current().children().collect(Collectors.toSet());

  private final Object hook;

  private LocalClusterRemains(Path scratch, Path workFolder) {
    this.scratch = scratch;
    this.workFolder = workFolder;
    this.hook = ShutdownHookManager.addShutdownHook(HOOK_PRIORITY, this::removeAtExit);
  }

  /**
   * Creates a scratch directory; call before Spark starts.
   *
   * @param sparkHome directory in which workers create the folder {@code work}
   * @throws DDStoreException if Spark's native libraries cannot be loaded from the directory
   */
  static LocalClusterRemains prepare(Path sparkHome) {
    try {
      checkExecution();
      return new LocalClusterRemains(
          ScratchDirectory.createUnowned("ddstore-spark-"), sparkHome.resolve("work"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void checkExecution() throws IOException {
    Path program =
        Files.createTempFile(
            "ddstore-",
            ".program",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    boolean isAllowed = Files.isExecutable(program);
    Files.delete(program);
    if (!isAllowed) {
      throw new DDStoreException(
          "execution is not allowed in %s (mounted noexec?), where Spark unpacks its native libraries: set another directory by TMPDIR"
              .formatted(program.getParent()));
    }
  }

  Path scratch() {
    return scratch;
  }

  /** Returns a value for spark.deploy.appIdPattern that makes the application's folders known. */
  String applicationIdPattern() {
    return applicationPrefix + "%s-%04d";
  }

  /**
   * Waits for the executors of a stopped Spark application, including executors that a worker was
   * about to start, and deletes the files. Kills an executor that has not exited after 30 seconds.
   *
   * @throws DDStoreException if an executor still runs afterwards
   */
  @Override
  public void close() {
    if (ShutdownHookManager.inShutdown()) {
      return; // left to the hook, because the master may still start executors
    }
    synchronized (this) { // makes a concurrent hook wait
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
    stopCluster(); // still running if Spark failed to start
    if (!awaitExit(EXECUTOR_EXIT)) {
      executors().forEach(ProcessHandle::destroyForcibly);
      if (!awaitExit(KILLED_EXIT)) {
        throw new DDStoreException(
            "executors still running %d s after Spark stopped: %s %s"
                .formatted(
                    EXECUTOR_EXIT.plus(KILLED_EXIT).toSeconds(), executors(), executorRunners()));
      }
    }
  }

  /** Removes the remains at exit; a context that is still starting keeps starting executors. */
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

  /** Returns the workers' threads that start or run executors. */
  private static List<Thread> executorRunners() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(EXECUTOR_RUNNER))
        .toList();
  }

  /**
   * Stops the workers and the master of this JVM if they still run: the master would replace each
   * killed executor.
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
   * Waits for the threads that start executors, then for the executors: a worker that is stopped
   * while it starts an executor terminates that executor once it runs.
   *
   * @return false if a thread or executor still runs at the deadline
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
    ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
  }

  /** Deletes a directory; retries because ending threads of Spark may still add or delete files. */
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
