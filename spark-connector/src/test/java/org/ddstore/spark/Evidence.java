// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Notes that tasks leave for the test and for each other: files in a directory that all see. */
public final class Evidence implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final String directory;

  public Evidence(Path directory) {
    this.directory = directory.toString();
  }

  /** Waits until the task is interrupted; {@link #awaitNote} ignores interrupts. */
  public static int waitForInterrupt() throws InterruptedException {
    new CountDownLatch(1).await();
    throw new AssertionError("nobody opens this latch");
  }

  /** Writes a note, whole or not at all. */
  public void note(String name, Object text) {
    try {
      Path unfinished = Files.createTempFile(Path.of(directory), "unfinished", "");
      Files.writeString(unfinished, String.valueOf(text));
      Files.move(unfinished, path(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public boolean has(String name) {
    return Files.exists(path(name));
  }

  /** The note, or null if there is none. */
  public String read(String name) {
    try {
      return Files.readString(path(name));
    } catch (NoSuchFileException e) {
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits at most two minutes for a note. */
  public String awaitNote(String name) {
    await("note " + name).atMost(PATIENCE).until(() -> has(name));
    return read(name);
  }

  public long awaitPid(String name) {
    return Long.parseLong(awaitNote(name));
  }

  private Path path(String name) {
    return Path.of(directory, name);
  }
}
