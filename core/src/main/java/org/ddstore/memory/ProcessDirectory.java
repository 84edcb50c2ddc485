// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.types.DDStoreException;

/**
 * The directory of the segment files of this process under one root: {@code
 * <root>/ddstore-<uid>-<boot id>-<pid>-<random>}, mode 0700. Its file {@code lock} is locked as
 * long as the process is alive. A directory with a free lock belongs to an ended process. It is
 * deleted by each process that has a directory under the same root within seconds, and by the next
 * process that opens one. The last {@link #release()} deletes the directory.
 *
 * <p>The root may be writable by all users. The random number prevents other users from taking the
 * name first. Only directories of this user and host with mode 0700 are swept, because the locks of
 * other hosts on a shared file system may not be visible on this host.
 */
public final class ProcessDirectory {
  /** The default root: the shared memory of the processes of one host. */
  public static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private static final String LOCK_FILE = "lock";
  private static final String OWN_PREFIX = "org.ddstore.own-directory:";
  private static final String DELETED_SUFFIX = ".deleted";
  private static final Duration TIME_TO_LOCK = Duration.ofMinutes(1);

  /** Time between sweeps of a process that has a directory. A sweep lists the root. */
  private static final int SWEEP_SECONDS = 3;

  private static final int CREATE_TRIES = 100;
  private static final Map<Path, ProcessDirectory> OPEN = new HashMap<>();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final FileAttribute<?> OWNER_READS_AND_WRITES =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(ProcessDirectory::deleteAll, "ddstore-delete-files"));
  }

  private final Path root;
  private final Path path;
  private final FileChannel lockChannel;
  private int references;

  private ProcessDirectory(Path root, Path path, FileChannel lockChannel) {
    this.root = root;
    this.path = path;
    this.lockChannel = lockChannel;
  }

  /**
   * Returns the directory of this process under {@code root} with one reference for the caller;
   * creates it if necessary. Sweeps the directories of ended processes of this user.
   */
  public static ProcessDirectory acquire(Path root) {
    synchronized (OPEN) {
      ProcessDirectory directory;
      try {
        Path real = root.toRealPath(); // one directory per root, regardless of its spelling
        directory = OPEN.get(real);
        if (directory == null) {
          directory = create(real);
          OPEN.put(real, directory);
          sweepAgain(directory);
        } else {
          sweep(real);
        }
      } catch (IOException e) {
        throw new DDStoreException(
            "cannot create a directory for segments under %s: %s".formatted(root, e), e);
      }
      directory.references++;
      return directory;
    }
  }

  public Path path() {
    return path;
  }

  /** Returns the root of this directory, with symbolic links resolved. */
  public Path root() {
    return root;
  }

  /** Returns the file that is locked as long as this process is alive. */
  public Path lockFile() {
    return path.resolve(LOCK_FILE);
  }

  /** Returns the lock file of the process that created {@code file} in its directory. */
  public static Path lockFileBeside(Path file) {
    return file.resolveSibling(LOCK_FILE);
  }

  /** Releases one reference; the last release deletes the directory, and sweeps a last time. */
  public void release() {
    synchronized (OPEN) {
      if (--references == 0) {
        OPEN.remove(root);
        delete();
        sweepQuietly(root);
      }
    }
  }

  /** Sweeps at intervals as long as a directory is open, without a thread of its own. */
  private static void sweepAgain(ProcessDirectory directory) {
    CompletableFuture.delayedExecutor(SWEEP_SECONDS, TimeUnit.SECONDS)
        .execute(
            () -> {
              if (directory.isOpen()) {
                try {
                  sweepQuietly(directory.root);
                } finally {
                  sweepAgain(directory);
                }
              }
            });
  }

  private boolean isOpen() {
    synchronized (OPEN) {
      return OPEN.get(root) == this;
    }
  }

  /** Sweeps; leaves what cannot be deleted to the next process, which reports the reason. */
  private static void sweepQuietly(Path root) {
    try {
      sweep(root);
    } catch (IOException e) {
      // Nothing that this process needs.
    }
  }

  /** Returns whether the process with this {@link #lockFile()} is alive. Does not block. */
  public static boolean isAlive(Path lockFile) {
    if (isOwn(lockFile.getParent())) {
      return true;
    }
    try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock == null;
    } catch (OverlappingFileLockException e) {
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      return true; // unknown: out of file descriptors, or the thread is interrupted
    }
  }

  /**
   * Returns whether a directory belongs to this process. Its lock file must not be opened and
   * closed, because that releases the POSIX lock. A system property holds the answer, so that
   * copies of this class in other class loaders see it.
   */
  private static boolean isOwn(Path directory) {
    return System.getProperty(OWN_PREFIX + directory) != null;
  }

  /** Deletes the directories of ended processes of this user under {@code root}. */
  public static void sweepDead(Path root) {
    try {
      sweep(root.toRealPath());
    } catch (NoSuchFileException e) {
      // Nothing to delete.
    } catch (IOException e) {
      throw new DDStoreException("cannot sweep " + root + ": " + e, e);
    }
  }

  /**
   * Checks that a file may be a segment of another process of this user and host, before it is
   * opened: the path can come from a hostile text.
   *
   * @throws IOException if it is not in the directory of another process of this user and host
   */
  public static void checkHolds(Path file) throws IOException {
    Path directory = file.getParent();
    if (!file.isAbsolute()
        || directory == null
        || directory.getFileName() == null
        || !directory.getFileName().toString().startsWith(prefix())
        || file.endsWith(LOCK_FILE)
        || !isOwnersDirectory(directory)
        || isOwn(directory.toRealPath())) {
      throw new IOException(
          "%s is not a segment of another process of this user and host".formatted(file));
    }
  }

  private static String prefix() throws IOException {
    return "ddstore-%s-%s-".formatted(userId(), BootId.ofThisHost());
  }

  private static ProcessDirectory create(Path root) throws IOException {
    for (int i = 0; i < CREATE_TRIES; i++) {
      try {
        sweep(root);
        Path path =
            Files.createDirectory(
                root.resolve(
                    prefix()
                        + ProcessHandle.current().pid()
                        + "-"
                        + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt())),
                OWNER_ONLY);
        FileChannel channel = lock(path);
        if (channel != null) {
          return new ProcessDirectory(root, path, channel);
        }
      } catch (NoSuchFileException | FileAlreadyExistsException e) {
        if (!Files.isDirectory(root)) {
          throw e;
        }
        // The name is taken, or another process swept before the lock was taken: retry.
      }
    }
    throw new IOException("no directory after %d attempts in %s".formatted(CREATE_TRIES, root));
  }

  /**
   * Locks a new directory to mark its process as alive.
   *
   * @return channel that holds the lock; null if another process swept the directory first
   */
  private static FileChannel lock(Path path) throws IOException {
    Path lockFile = path.resolve(LOCK_FILE);
    FileChannel channel = null;
    boolean locked = false;
    System.setProperty(OWN_PREFIX + path, "");
    try {
      channel =
          FileChannel.open(
              lockFile,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              OWNER_READS_AND_WRITES);
      locked = channel.tryLock() != null && Files.exists(lockFile);
      return locked ? channel : null;
    } finally {
      if (!locked) {
        System.clearProperty(OWN_PREFIX + path);
        if (channel != null) {
          channel.close(); // the next sweep deletes the directory, whose lock is free or missing
        }
      }
    }
  }

  private static Object userId() throws IOException {
    return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }

  /** Returns the directories of this user and host under a root that other users may write to. */
  private static List<Path> directories(Path root) throws IOException {
    String prefix = prefix();
    List<Path> named = new ArrayList<>();
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(
            root, entry -> entry.getFileName().toString().startsWith(prefix))) {
      entries.forEach(named::add);
    } catch (AccessDeniedException e) {
      return List.of(); // a directory that cannot be listed may still be writable
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    named.removeIf(entry -> !isOwnersDirectory(entry));
    return named;
  }

  /** Returns whether a path is a directory of this user with mode 0700, and not a symbolic link. */
  private static boolean isOwnersDirectory(Path path) {
    try {
      return Files.readAttributes(
              path, "unix:uid,isDirectory,permissions", LinkOption.NOFOLLOW_LINKS)
          .equals(Map.of("uid", userId(), "isDirectory", true, "permissions", OWNER_ONLY.value()));
    } catch (IOException e) {
      return false; // swept by another process
    }
  }

  /** Deletes the directories of processes of this user and host that have ended. */
  private static void sweep(Path root) throws IOException {
    for (Path directory : directories(root)) {
      Path lockFile = directory.resolve(LOCK_FILE);
      if (isOwn(directory)) {
        continue;
      }
      try (FileChannel channel =
              FileChannel.open(lockFile, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
          FileLock lock = channel.tryLock()) {
        if (lock != null) {
          deleteTree(directory);
        }
      } catch (NoSuchFileException e) {
        sweepUnlocked(directory);
      } catch (FileSystemException | OverlappingFileLockException e) {
        // Alive, being swept, or not a directory of this user: not an error of this process.
      }
    }
  }

  /** Sweeps a directory without a lock file, which a process is creating or has left. */
  private static void sweepUnlocked(Path directory) {
    try {
      Instant made = Files.getLastModifiedTime(directory, LinkOption.NOFOLLOW_LINKS).toInstant();
      if (made.isBefore(Instant.now().minus(TIME_TO_LOCK))) {
        Files.deleteIfExists(directory);
      }
    } catch (IOException e) {
      // Swept by another process, or not empty and therefore not a directory of this project.
    }
  }

  /**
   * Renames a directory, then deletes it, because other threads of an ending process may still
   * create files under the old name. The lock file is deleted last, so that the remains are still
   * recognizable if this process ends during the deletion.
   */
  private static void deleteTree(Path directory) throws IOException {
    Path renamed = directory.resolveSibling(directory.getFileName() + DELETED_SUFFIX);
    List<Path> paths;
    try {
      Files.move(directory, renamed, StandardCopyOption.ATOMIC_MOVE);
      try (Stream<Path> walk = Files.walk(renamed)) {
        paths = walk.sorted(Comparator.reverseOrder()).collect(Collectors.toList());
      }
    } catch (UncheckedIOException | NoSuchFileException e) {
      return; // another process sweeps it
    }
    Path lockFile = renamed.resolve(LOCK_FILE);
    paths.removeAll(List.of(lockFile, renamed));
    paths.addAll(List.of(lockFile, renamed));
    for (Path path : paths) {
      Files.deleteIfExists(path);
    }
  }

  private void delete() {
    try {
      try (lockChannel) {
        deleteTree(path);
      } finally {
        System.clearProperty(OWN_PREFIX + path);
      }
    } catch (IOException e) {
      throw new DDStoreException("cannot delete " + path, e);
    }
  }

  /** Deletes all directories at shutdown; the next process sweeps those of a killed process. */
  private static void deleteAll() {
    synchronized (OPEN) {
      OPEN.values().forEach(ProcessDirectory::delete);
      OPEN.clear();
    }
  }

  @Override
  public String toString() {
    return "ProcessDirectory[" + path + "]";
  }
}
