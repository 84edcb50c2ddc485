// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.Backing;

/** Memory and timeouts of a store. Immutable; the setters return changed copies. */
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

  /** {@return {@code SHM} under /dev/shm, a close timeout of 30 s, a read timeout of 1 min} */
  public static StoreOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Places segments in /dev/shm or in direct memory of this process.
   *
   * @param backing {@code SHM} or {@code DIRECT}
   * @return a copy with this option
   */
  public StoreOptions backing(Backing backing) {
    Objects.requireNonNull(backing, "backing is null");
    if (backing == Backing.FILE) {
      throw new IllegalArgumentException("file backing needs a directory: use files(path)");
    }
    return withPlace(backing, ProcessDirectory.SHARED_MEMORY);
  }

  /**
   * Places segments in files under an existing directory on a disk.
   *
   * @param directory existing directory, an absolute path
   * @return a copy with this option
   */
  public StoreOptions files(Path directory) {
    Objects.requireNonNull(directory, "directory is null");
    return withPlace(Backing.FILE, directory.toAbsolutePath());
  }

  /**
   * Places segments in shared memory under a mount other than /dev/shm, for example one provided by
   * a container.
   *
   * @param directory existing directory, an absolute path
   * @return a copy with this option
   */
  public StoreOptions sharedMemory(Path directory) {
    Objects.requireNonNull(directory, "directory is null");
    return withPlace(Backing.SHM, directory.toAbsolutePath());
  }

  private StoreOptions withPlace(Backing backing, Path directory) {
    return new StoreOptions(backing, directory, closeTimeout, readTimeout, shortcut);
  }

  /**
   * Sets the time that {@link DDStore#close()} waits for reads in flight before it throws.
   *
   * @param closeTimeout maximum time, above 0
   * @return a copy with this option
   */
  public StoreOptions closeTimeout(Duration closeTimeout) {
    Objects.requireNonNull(closeTimeout, "closeTimeout is null");
    return new StoreOptions(backing, directory, closeTimeout, readTimeout, shortcut);
  }

  /**
   * Sets the limit for a read of rows over a network, and for the wait for rows of any rank that
   * {@link DDStore#epochBegin()} is changing. Must be above 0.
   *
   * @param readTimeout maximum time, above 0
   * @return a copy with this option
   */
  public StoreOptions readTimeout(Duration readTimeout) {
    Objects.requireNonNull(readTimeout, "readTimeout is null");
    if (readTimeout.isNegative() || readTimeout.isZero()) {
      throw new IllegalArgumentException("read timeout " + readTimeout + " must be above 0");
    }
    return new StoreOptions(backing, directory, closeTimeout, readTimeout, shortcut);
  }

  /**
   * Sets whether rows of this process and this host are read from local memory (the default) or
   * over the transport like rows of other hosts. If false, the store needs a transport.
   *
   * @param shortcut false to read all rows over the transport
   * @return a copy with this option
   */
  public StoreOptions shortcut(boolean shortcut) {
    return new StoreOptions(backing, directory, closeTimeout, readTimeout, shortcut);
  }

  /** {@return the memory of the segments} */
  public Backing backing() {
    return backing;
  }

  /** {@return the directory of the segment files; not used for {@code DIRECT}} */
  public Path directory() {
    return directory;
  }

  /** Returns the source of the memory and its free space as human-readable text. */
  String place() {
    if (backing == Backing.DIRECT) {
      return "direct memory of this process";
    }
    try {
      FileStore fileStore = Files.getFileStore(directory);
      return "%s (%s), %,d bytes free of %,d"
          .formatted(directory, backing, fileStore.getUsableSpace(), fileStore.getTotalSpace());
    } catch (IOException e) {
      return "%s (%s), unknown space: %s".formatted(directory, backing, e);
    }
  }

  /** {@return the time that a close waits for reads in flight} */
  public Duration closeTimeout() {
    return closeTimeout;
  }

  /** {@return the maximum time of a read of rows over a network} */
  public Duration readTimeout() {
    return readTimeout;
  }

  /** {@return whether rows of this process and this host are read from local memory} */
  public boolean shortcut() {
    return shortcut;
  }

  @Override
  public String toString() {
    return "StoreOptions[%s%s, close within %s]"
        .formatted(backing, backing == Backing.DIRECT ? "" : " in " + directory, closeTimeout);
  }
}
