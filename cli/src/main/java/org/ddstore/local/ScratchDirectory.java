// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A directory for the files of one command, deleted by {@link #close()} or when the JVM exits. */
public final class ScratchDirectory implements AutoCloseable {
  private final Path path;
  private final ExitCleanup cleanup;

  private ScratchDirectory(Path path) {
    this.path = path;
    this.cleanup = new ExitCleanup("ddstore-scratch", this::delete);
  }

  public static ScratchDirectory create(String prefix) throws IOException {
    return new ScratchDirectory(createUnowned(prefix));
  }

  /** Creates a directory in another one than that of temporary files. */
  public static ScratchDirectory create(Path parent, String prefix) throws IOException {
    return new ScratchDirectory(
        Files.createTempDirectory(parent, prefix + ProcessHandle.current().pid() + "-"));
  }

  /** Creates a directory that the caller deletes, named by the prefix and this process's id. */
  public static Path createUnowned(String prefix) throws IOException {
    return Files.createTempDirectory(prefix + ProcessHandle.current().pid() + "-");
  }

  public Path path() {
    return path;
  }

  private void delete() {
    try (Stream<Path> walk = Files.walk(path)) {
      List<Path> deepestFirst = walk.sorted(Comparator.reverseOrder()).toList();
      for (Path each : deepestFirst) {
        Files.deleteIfExists(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + path, e);
    }
  }

  @Override
  public void close() {
    cleanup.close();
  }

  @Override
  public String toString() {
    return "ScratchDirectory[%s]".formatted(path);
  }
}
