// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** Directories that one test class has for itself. */
public final class TestRoots {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final int DELETE_TRIES = 1000;

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

  /**
   * Deletes a directory, from which processes that end may delete at the same time; they rename
   * what they delete first.
   */
  public static void delete(Path root) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        deleteTree(root);
        return;
      } catch (DirectoryNotEmptyException e) {
        if (tries == DELETE_TRIES) {
          throw e;
        }
      }
    }
  }

  private static void deleteTree(Path root) throws IOException {
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes facts)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
            if (failure instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw failure;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
