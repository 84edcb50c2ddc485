package org.ddstore.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.DDStoreException;

/**
 * Processes that a command has started. Owns them: they have ended after {@link #close()}, and also
 * before the JVM ends when it is told to.
 */
final class ChildProcesses implements AutoCloseable {
  private static final Duration KILLED_EXIT = Duration.ofSeconds(10);

  private final List<Process> processes = new CopyOnWriteArrayList<>();
  private final Duration patience;
  private final Thread atExit = new Thread(this::end, "ddstore-end-processes");

  /**
   * @param patience how long a process may take to end before it is killed
   */
  ChildProcesses(Duration patience) {
    this.patience = patience;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    processes.add(process);
    return process;
  }

  /** In the order in which they were started. */
  List<Process> all() {
    return List.copyOf(processes);
  }

  private void end() {
    processes.forEach(Process::destroy);
    if (!awaitExit(patience)) {
      processes.forEach(Process::destroyForcibly);
      if (!awaitExit(KILLED_EXIT)) {
        throw new DDStoreException(
            "processes still run %d s after they were killed: %s"
                .formatted(KILLED_EXIT.toSeconds(), processes));
      }
    }
  }

  /** Returns false if one still runs after {@code limit}. Ignores interrupts. */
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
   * Ends the processes that still run, and waits for their end, also in an interrupted thread.
   *
   * @throws DDStoreException if a process cannot be killed
   */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      return; // the JVM ends, and the hook does this
    }
    end();
  }

  @Override
  public String toString() {
    return "ChildProcesses%s".formatted(processes);
  }
}
