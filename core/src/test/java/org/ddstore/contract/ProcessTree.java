// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program, and every process that it starts: all of them must end, and leave no shared memory.
 * Owns the processes; for one thread.
 */
public final class ProcessTree implements AutoCloseable {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final long POLL_MS = 100;

  private final Process root;
  private final Set<ProcessHandle> seen = new HashSet<>();

  private ProcessTree(Process root) {
    this.root = root;
    seen.add(root.toHandle());
  }

  public static ProcessTree start(ProcessBuilder program) throws IOException {
    return new ProcessTree(program.start());
  }

  public boolean isAlive() {
    return root.isAlive();
  }

  /**
   * Waits for the program to end, while it notes what it starts.
   *
   * @return its exit status
   * @throws AssertionError if it runs longer; it is killed then
   */
  public int awaitExit(Duration limit) throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (!root.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
      look();
      if (System.nanoTime() > deadlineNs) {
        close();
        throw new AssertionError("still runs after %s: %s".formatted(limit, root.info()));
      }
    }
    return root.exitValue();
  }

  public void stop(Duration limit) throws InterruptedException {
    look();
    root.destroy();
    awaitAll(limit);
  }

  public void type(String text) throws IOException {
    root.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    root.getOutputStream().flush();
  }

  public void closeInput() throws IOException {
    root.getOutputStream().close();
  }

  public void awaitAll(Duration limit) throws InterruptedException {
    look();
    CompletableFuture<?>[] exits =
        seen.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(exits).get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      throw new AssertionError("still run after %s: %s".formatted(limit, living()), e);
    }
  }

  public List<ProcessHandle> children() {
    look();
    return living().stream().filter(process -> process.pid() != root.pid()).toList();
  }

  private void look() {
    for (ProcessHandle process : List.copyOf(seen)) {
      process.descendants().forEach(seen::add);
    }
  }

  private List<ProcessHandle> living() {
    return seen.stream().filter(ProcessHandle::isAlive).toList();
  }

  public void assertNothingLeft() throws IOException {
    assertThat(living()).as("processes left").isEmpty();
    assertThat(directories()).as("shared memory left").isEmpty();
  }

  private List<Path> directories() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(SHARED_MEMORY, this::isOfThese)) {
      all.forEach(found::add);
    }
    return found;
  }

  private boolean isOfThese(Path directory) {
    String name = directory.getFileName().toString();
    return name.startsWith("ddstore-")
        && seen.stream().anyMatch(process -> name.contains("-" + process.pid() + "-"));
  }

  @Override
  public void close() {
    look();
    seen.forEach(ProcessHandle::destroyForcibly);
  }
}
