// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Directories that one test class has for itself. */
public final class TestRoots {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private TestRoots() {}

  public static Path sharedMemory() throws IOException {
    return Files.isWritable(SHARED_MEMORY)
        ? Files.createTempDirectory(SHARED_MEMORY, "ddstore-test-")
        : onDisk();
  }

  public static Path onDisk() throws IOException {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
    return Files.createTempDirectory(Files.createDirectories(temporary), "ddstore-test-");
  }

  public static void delete(Path root) throws IOException {
    List<Path> paths;
    try (Stream<Path> walk = Files.walk(root)) {
      paths = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : paths) {
      Files.delete(path);
    }
  }
}
