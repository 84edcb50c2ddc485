// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A {@link CheckpointStorage} in a directory of the file system. Files are on the disk when they
 * are closed ({@code fsync(2)}), and a published file appears by a rename.
 */
final class LocalStorage implements CheckpointStorage {
  private final Path directory;

  LocalStorage(Path directory) {
    this.directory = Objects.requireNonNull(directory, "directory is null").toAbsolutePath();
  }

  @Override
  public OutputStream create(String file) throws IOException {
    Path path = directory.resolve(file);
    createDirectory();
    Files.createDirectories(path.getParent());
    return newFile(path);
  }

  /** Creates the directory itself, not those above it: a missing one can be a missing mount. */
  private void createDirectory() throws IOException {
    checkAbove();
    try {
      Files.createDirectory(directory);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory)) {
        throw e;
      }
    }
  }

  private void checkAbove() throws IOException {
    Path above = directory.getParent();
    if (above != null && !Files.isDirectory(above)) {
      throw new NoSuchFileException(above.toString());
    }
  }

  @Override
  public void check() throws IOException {
    list("");
    if (!Files.exists(directory)) {
      checkAbove();
      Path above = directory.getParent();
      if (!Files.isWritable(above)) {
        throw Files.getFileStore(above).isReadOnly()
            ? new FileSystemException(above.toString(), null, "Read-only file system")
            : new AccessDeniedException(above.toString());
      }
    }
  }

  private static OutputStream newFile(Path path) throws IOException {
    FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    return new FilterOutputStream(Channels.newOutputStream(channel)) {
      @Override
      public void write(byte[] bytes, int from, int count) throws IOException {
        out.write(bytes, from, count);
      }

      @Override
      public void close() throws IOException {
        try (channel) {
          if (channel.isOpen()) {
            channel.force(true);
          }
        }
      }
    };
  }

  @Override
  public void publish(String file, byte[] content) throws IOException {
    Path temporary = directory.resolve("." + file + ".tmp");
    try (OutputStream out = newFile(temporary)) {
      out.write(content, 0, content.length);
    }
    Files.move(temporary, directory.resolve(file), StandardCopyOption.ATOMIC_MOVE);
    try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
      entries.force(true);
    }
  }

  @Override
  public InputStream open(String file) throws IOException {
    return Files.newInputStream(directory.resolve(file));
  }

  @Override
  public List<Entry> list(String folder) throws IOException {
    List<Entry> entries = new ArrayList<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory.resolve(folder))) {
      for (Path path : paths) {
        entry(path).ifPresent(entries::add);
      }
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return entries;
  }

  /** Returns a file or folder; empty if it was deleted since it was listed. */
  private static Optional<Entry> entry(Path path) throws IOException {
    String name = path.getFileName().toString();
    if (Files.isDirectory(path)) {
      return Optional.of(new Entry(name, 0, true));
    }
    try {
      return Optional.of(new Entry(name, Files.size(path), false));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  @Override
  public void delete(String path) throws IOException {
    Path top = directory.resolve(path);
    if (!Files.exists(top)) {
      return;
    }
    List<Path> deepestFirst;
    try (Stream<Path> all = Files.walk(top)) {
      deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    for (Path each : deepestFirst) {
      Files.deleteIfExists(each);
    }
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
