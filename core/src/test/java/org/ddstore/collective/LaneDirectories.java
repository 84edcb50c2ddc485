package org.ddstore.collective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Directories for lanes: in /dev/shm if there is one. */
final class LaneDirectories {
  private LaneDirectories() {}

  static Path create() throws IOException {
    Path shm = Path.of("/dev/shm");
    return Files.isWritable(shm)
        ? Files.createTempDirectory(shm, "ddstore-test-")
        : Files.createTempDirectory("ddstore-test-");
  }
}
