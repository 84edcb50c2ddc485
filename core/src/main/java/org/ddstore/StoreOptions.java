package org.ddstore;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.Backing;

/**
 * How a rank of a store uses memory and time. Immutable; the {@code with} methods give changed
 * copies.
 */
public final class StoreOptions {
  private static final StoreOptions DEFAULTS =
      new StoreOptions(
          Backing.SHM,
          ProcessDirectory.SHARED_MEMORY,
          Duration.ofSeconds(30),
          Duration.ofMinutes(1),
          true);

  private final Backing backing;
  private final Path directory;
  private final Duration closeTimeout;
  private final Duration readTimeout;
  private final boolean shortcut;

  private StoreOptions(
      Backing backing,
      Path directory,
      Duration closeTimeout,
      Duration readTimeout,
      boolean shortcut) {
    this.backing = backing;
    this.directory = directory;
    this.closeTimeout = closeTimeout;
    this.readTimeout = readTimeout;
    this.shortcut = shortcut;
  }

  /**
   * {@code SHM} under /dev/shm; 30 seconds for readers to end at a close, a minute for a batch from
   * other hosts.
   */
  public static StoreOptions defaults() {
    return DEFAULTS;
  }

  /** Segments in /dev/shm, or in direct memory of this process. */
  public StoreOptions withBacking(Backing newBacking) {
    Objects.requireNonNull(newBacking, "newBacking is null");
    if (newBacking == Backing.FILE) {
      throw new IllegalArgumentException("file backing needs a directory: use withFiles(path)");
    }
    return withPlace(newBacking, ProcessDirectory.SHARED_MEMORY);
  }

  /** Segments in files under {@code newDirectory} on a disk, which must exist. */
  public StoreOptions withFiles(Path newDirectory) {
    Objects.requireNonNull(newDirectory, "newDirectory is null");
    return withPlace(Backing.FILE, newDirectory.toAbsolutePath());
  }

  /**
   * Segments in shared memory under another mount than /dev/shm, for example one that a container
   * brings.
   */
  public StoreOptions withSharedMemory(Path newDirectory) {
    Objects.requireNonNull(newDirectory, "newDirectory is null");
    return withPlace(Backing.SHM, newDirectory.toAbsolutePath());
  }

  private StoreOptions withPlace(Backing newBacking, Path newDirectory) {
    return new StoreOptions(newBacking, newDirectory, closeTimeout, readTimeout, shortcut);
  }

  /** How long {@link DDStore#close()} waits for reads in flight before it throws. */
  public StoreOptions withCloseTimeout(Duration newCloseTimeout) {
    Objects.requireNonNull(newCloseTimeout, "closeTimeout");
    return new StoreOptions(backing, directory, newCloseTimeout, readTimeout, shortcut);
  }

  /**
   * How long a batch may take whose rows come over a network, and how long a read waits for rows of
   * any rank that are being changed by {@link DDStore#epochBegin()}.
   */
  public StoreOptions withReadTimeout(Duration newReadTimeout) {
    Objects.requireNonNull(newReadTimeout, "newReadTimeout is null");
    if (newReadTimeout.isNegative() || newReadTimeout.isZero()) {
      throw new IllegalArgumentException("read timeout " + newReadTimeout + " is not above 0");
    }
    return new StoreOptions(backing, directory, closeTimeout, newReadTimeout, shortcut);
  }

  /**
   * Whether rows of this process and this host are read by memory, as by default, or over the
   * transport like those of other hosts. Without it the store needs a transport.
   */
  public StoreOptions withShortcut(boolean newShortcut) {
    return new StoreOptions(backing, directory, closeTimeout, readTimeout, newShortcut);
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

  public Duration readTimeout() {
    return readTimeout;
  }

  public boolean shortcut() {
    return shortcut;
  }

  @Override
  public String toString() {
    return "StoreOptions[%s%s, close within %s]"
        .formatted(backing, backing == Backing.DIRECT ? "" : " in " + directory, closeTimeout);
  }
}
