// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.ddstore.local.ExitCleanup;
import org.ddstore.types.DDStoreException;

/**
 * The processes that a command has started. Owns them: {@link #close()} ends them and waits for
 * their exit, as does a shutdown hook when the JVM is terminated.
 */
public final class ChildProcesses implements AutoCloseable {
  private static final Duration KILLED_EXIT = Duration.ofSeconds(10);

  private final List<Process> processes = new CopyOnWriteArrayList<>();
  private final Duration patience;
  private final ExitCleanup cleanup;

  /**
   * @param patience maximum time that a process has to exit before it is killed
   */
  public ChildProcesses(Duration patience) {
    this.patience = patience;
    this.cleanup = new ExitCleanup("ddstore-end-processes", this::end);
  }

  public Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    processes.add(process);
    return process;
  }

  public List<Process> all() {
    return List.copyOf(processes);
  }

  private void end() {
    processes.forEach(Process::destroy);
    if (!awaitExit(patience)) {
      processes.forEach(Process::destroyForcibly);
      if (!awaitExit(KILLED_EXIT)) {
        throw new DDStoreException(
            "processes still running %d s after they were killed: %s"
                .formatted(KILLED_EXIT.toSeconds(), processes));
      }
    }
  }

  /** Returns false if a process still runs after {@code limit}. Ignores interrupts. */
  private boolean awaitExit(Duration limit) {
    CompletableFuture<?>[] exits =
        processes.stream().map(Process::onExit).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(exits).orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
      return true;
    } catch (CompletionException e) {
      return false;
    }
  }

  /**
   * Terminates the processes that still run and waits for their exit, even if the thread is
   * interrupted.
   *
   * @throws DDStoreException if a process cannot be killed
   */
  @Override
  public void close() {
    cleanup.close();
  }

  @Override
  public String toString() {
    return "ChildProcesses%s".formatted(processes);
  }
}
