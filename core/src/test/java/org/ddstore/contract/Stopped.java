// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * A process that SIGSTOP holds: it is alive, its connections are open, and it answers nothing. The
 * caller that stops the process closes this object, which resumes the process.
 */
public final class Stopped implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ProcessHandle process;
  private final AtomicBoolean proceeds = new AtomicBoolean();

  private Stopped(ProcessHandle process) {
    this.process = process;
  }

  public static Stopped stop(ProcessHandle process) throws IOException {
    signal("STOP", process);
    await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(() -> standsStill(process));
    return new Stopped(process);
  }

  public void proceed() throws IOException {
    if (proceeds.compareAndSet(false, true) && process.isAlive()) {
      signal("CONT", process);
    }
  }

  @Override
  public void close() throws IOException {
    proceed();
  }

  private static void signal(String signal, ProcessHandle process) throws IOException {
    String pid = Long.toString(process.pid());
    Process kill =
        new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid).inheritIO().start();
    int status = kill.onExit().join().exitValue();
    if (status != 0) {
      throw new IOException("SIG" + signal + " to process " + pid + ": status " + status);
    }
  }

  private static boolean standsStill(ProcessHandle process) throws IOException {
    List<Path> threads;
    try (Stream<Path> all = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      threads = all.toList();
    }
    for (Path thread : threads) {
      try {
        String stat = Files.readString(thread.resolve("stat"));
        // "pid (name) state ..": the name may hold anything, proc(5)
        if (!stat.substring(stat.lastIndexOf(')')).startsWith(") T")) {
          return false;
        }
      } catch (NoSuchFileException e) {
        return false; // a thread that ends does not stand still
      }
    }
    return true;
  }
}
