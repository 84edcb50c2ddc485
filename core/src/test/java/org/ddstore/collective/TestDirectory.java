// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;

/** A root for the lanes of one test, in /dev/shm if there is one. */
final class TestDirectory implements AutoCloseable {
  private final Path root;
  private final ProcessDirectory ofProcess;

  private TestDirectory(Path root) {
    this.root = root;
    this.ofProcess = ProcessDirectory.acquire(root);
  }

  static TestDirectory create() throws IOException {
    return new TestDirectory(TestRoots.sharedMemory());
  }

  Path root() {
    return root;
  }

  ProcessDirectory ofProcess() {
    return ofProcess;
  }

  List<Path> lanes() throws IOException {
    try (Stream<Path> files = Files.list(ofProcess.path())) {
      return files.filter(file -> !file.equals(ofProcess.lockFile())).toList();
    }
  }

  void assertNoLane() throws IOException {
    assertThat(lanes()).as("files of lanes").isEmpty();
  }

  @Override
  public void close() throws IOException {
    try {
      assertNoLane();
      ofProcess.release();
      ProcessDirectory.sweepDead(root); // what a killed process leaves is its empty directory
      assertThat(root).isEmptyDirectory();
    } finally {
      TestRoots.delete(root);
    }
  }
}
