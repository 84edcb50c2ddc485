package org.ddstore;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.ddstore.memory.ProcessDirectory;

/**
 * How a rank of a store uses memory and time. Immutable; the {@code with} methods give changed
 * copies.
 */
public final class StoreOptions {
  private static final StoreOptions DEFAULTS =
      new StoreOptions(Backing.SHM, ProcessDirectory.SHARED_MEMORY, Duration.ofSeconds(30));

  private final Backing backing;
  private final Path directory;
  private final Duration closeTimeout;

  private StoreOptions(Backing backing, Path directory, Duration closeTimeout) {
    this.backing = backing;
    this.directory = directory;
    this.closeTimeout = closeTimeout;
  }

  /** {@code SHM} under /dev/shm; 30 seconds for readers to end at a close. */
  public static StoreOptions defaults() {
    return DEFAULTS;
  }

  /** Segments in /dev/shm, or in direct memory of this process. */
  public StoreOptions withBacking(Backing newBacking) {
    if (newBacking == Backing.FILE) {
      throw new IllegalArgumentException("file backing needs a directory: use withFiles(path)");
    }
    return new StoreOptions(newBacking, ProcessDirectory.SHARED_MEMORY, closeTimeout);
  }

  /** Segments in files under {@code newDirectory} on a disk, which must exist. */
  public StoreOptions withFiles(Path newDirectory) {
    return new StoreOptions(Backing.FILE, newDirectory.toAbsolutePath(), closeTimeout);
  }

  /**
   * Segments in shared memory under another mount than /dev/shm, for example one that a container
   * brings.
   */
  public StoreOptions withSharedMemory(Path newDirectory) {
    return new StoreOptions(Backing.SHM, newDirectory.toAbsolutePath(), closeTimeout);
  }

  /** How long {@link DDStore#close()} waits for reads in flight before it throws. */
  public StoreOptions withCloseTimeout(Duration newCloseTimeout) {
    Objects.requireNonNull(newCloseTimeout, "closeTimeout");
    return new StoreOptions(backing, directory, newCloseTimeout);
  }

  public Backing backing() {
    return backing;
  }

  /** The directory under which segment files are made; of no meaning for {@code DIRECT}. */
  public Path directory() {
    return directory;
  }

  /** Where memory comes from and how much is left, for people. */
  String place() {
    if (backing == Backing.DIRECT) {
      return "direct memory of this process";
    }
    try {
      FileStore fileStore = Files.getFileStore(directory);
      return "%s (%s), %,d bytes free of %,d"
          .formatted(directory, backing, fileStore.getUsableSpace(), fileStore.getTotalSpace());
    } catch (IOException e) {
      return "%s (%s), of which the space is unknown: %s".formatted(directory, backing, e);
    }
  }

  public Duration closeTimeout() {
    return closeTimeout;
  }

  @Override
  public String toString() {
    return "StoreOptions[%s%s, close within %s]"
        .formatted(backing, backing == Backing.DIRECT ? "" : " in " + directory, closeTimeout);
  }
}
