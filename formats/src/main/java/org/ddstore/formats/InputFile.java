// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Closeable;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;

/**
 * A file or folder in a file system of Hadoop, as it was when it was listed. Files of the local
 * host are read without Hadoop. Immutable; all methods but {@link #path()}, {@link #length()} and
 * {@link #isFolder()} access the file system.
 */
public final class InputFile implements Serializable {
  private static final long serialVersionUID = 1L;

  private static final Pattern BOOKKEEPING =
      Pattern.compile(
          "_SUCCESS|_metadata|_common_metadata|_temporary|_spark_metadata|_delta_log|__MACOSX"
              + "|_committed_.*|_started_.*");

  private final String path;
  private final String root;
  private final long length;
  private final long modified;
  private final boolean folder;
  private final Hadoop hadoop;

  /** The configuration of Hadoop, on the driver and on executors. */
  @FunctionalInterface
  public interface Hadoop extends Serializable {
    /** {@return the configuration of this JVM} */
    Configuration configuration();
  }

  private InputFile(FileStatus status, String root, Hadoop hadoop) {
    this.path = status.getPath().toString();
    this.root = root;
    this.length = status.isDirectory() ? 0 : status.getLen();
    this.modified = status.getModificationTime();
    this.folder = status.isDirectory();
    this.hadoop = hadoop;
  }

  /**
   * {@return the files and folders that match a path}
   *
   * @param pattern path, or pattern of Hadoop such as {@code data/*.npy}
   * @param hadoop configuration of Hadoop
   * @throws FileNotFoundException if there are none
   */
  public static List<InputFile> matching(String pattern, Hadoop hadoop) throws IOException {
    Path path = new Path(pattern);
    FileSystem files = path.getFileSystem(hadoop.configuration());
    FileStatus[] found = files.globStatus(files.makeQualified(path));
    if (found == null || found.length == 0) {
      throw new FileNotFoundException(pattern + ": no such file or directory");
    }
    return all(found, root(files.makeQualified(path), found[0]), hadoop);
  }

  private static List<InputFile> all(FileStatus[] statuses, String root, Hadoop hadoop) {
    List<InputFile> files = new ArrayList<>(statuses.length);
    for (FileStatus status : statuses) {
      files.add(new InputFile(status, root, hadoop));
    }
    return files;
  }

  /** Returns the folder that a pattern names before its first placeholder, with a slash. */
  private static String root(Path pattern, FileStatus first) {
    String text = pattern.toString();
    Path root = first.isDirectory() ? first.getPath() : first.getPath().getParent();
    for (int i = 0; i < text.length(); i++) {
      if ("*?[{\\".indexOf(text.charAt(i)) >= 0) {
        root = new Path(text.substring(0, text.lastIndexOf('/', i) + 1));
        break;
      }
    }
    String folder = root.toString();
    return folder.endsWith("/") ? folder : folder + "/";
  }

  private FileSystem fileSystem() throws IOException {
    return new Path(path).getFileSystem(hadoop.configuration());
  }

  /** {@return the path with its scheme, as {@code file:/data/a.npy}} */
  public String path() {
    return path;
  }

  /** {@return the last part of the path} */
  public String name() {
    return new Path(path).getName();
  }

  /** {@return the name of the folder that contains the file} */
  public String folderName() {
    Path parent = new Path(path).getParent();
    return parent == null ? "" : parent.getName();
  }

  /**
   * {@return the path below the folder that the caller has named, such as {@code cat/1.png}; of a
   * file that the caller has named, its name; below a pattern such as {@code data/*}, the path
   * below {@code data}}
   */
  public String relativePath() {
    return path.startsWith(root) ? path.substring(root.length()) : name();
  }

  /** {@return the size in bytes; 0 for a folder} */
  public long length() {
    return length;
  }

  /** {@return whether this is a folder} */
  public boolean isFolder() {
    return folder;
  }

  /**
   * {@return the files and folders in a folder, in the order of the file system}
   *
   * @throws FormatException if there is a symbolic link to nothing, or to a folder that contains it
   * @throws IOException if the file system fails
   */
  public List<InputFile> children() throws IOException {
    if (local() != null) {
      requireSoundLinks(local());
    }
    return all(fileSystem().listStatus(new Path(path)), root, hadoop);
  }

  /**
   * {@return the folders in a folder, in the order of the file system} Files cost no memory.
   *
   * @throws FormatException if there is a symbolic link to nothing, or to a folder that contains it
   * @throws IOException if the file system fails
   */
  public List<InputFile> folders() throws IOException {
    if (local() != null) {
      requireSoundLinks(local());
    }
    List<String> names = new ArrayList<>();
    visit(name -> !name.endsWith("/") || names.add(name));
    List<InputFile> folders = new ArrayList<>(names.size());
    for (String name : names) {
      folders.add(resolve(name));
    }
    return folders;
  }

  /**
   * {@return the names of files and folders in a folder, those of folders with a slash at the end,
   * in the order of the file system}
   *
   * @param max number of names after which the rest is not listed
   * @throws IOException if the file system fails
   */
  public List<String> names(int max) throws IOException {
    List<String> names = new ArrayList<>();
    if (max > 0) {
      visit(name -> names.add(name) && names.size() < max);
    }
    return names;
  }

  private static void requireNotCancelled() throws InterruptedIOException {
    TaskContext task = TaskContext.get();
    if (task != null && task.isInterrupted()) {
      throw new TaskKilledException("cancelled");
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("the read was interrupted");
    }
  }

  /** Passes the names of {@link #names} to a visitor until it returns false. */
  private void visit(Predicate<String> visitor) throws IOException {
    requireNotCancelled();
    if (local() == null) {
      RemoteIterator<FileStatus> entries = fileSystem().listStatusIterator(new Path(path));
      boolean wantsMore = true;
      while (wantsMore && entries.hasNext()) {
        FileStatus entry = entries.next();
        wantsMore = visitor.test(entry.getPath().getName() + (entry.isDirectory() ? "/" : ""));
      }
      return;
    }
    try (DirectoryStream<java.nio.file.Path> entries = Files.newDirectoryStream(local())) {
      for (java.nio.file.Path entry : entries) {
        if (!visitor.test(entry.getFileName() + (Files.isDirectory(entry) ? "/" : ""))) {
          return;
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /** Links to nothing would be left out silently, and links back would be followed for ever. */
  private static void requireSoundLinks(java.nio.file.Path folder) throws IOException {
    try (DirectoryStream<java.nio.file.Path> entries = Files.newDirectoryStream(folder)) {
      for (java.nio.file.Path entry : entries) {
        if (!Files.isSymbolicLink(entry) || isHidden(entry.getFileName().toString())) {
          continue;
        }
        if (Files.notExists(entry)) {
          throw new FormatException(
              "file:" + entry,
              "a symbolic link to %s, which is missing: remove the link"
                  .formatted(Files.readSymbolicLink(entry)));
        }
        if (Files.isDirectory(entry) && leadsBack(entry.toRealPath(), folder)) {
          throw new FormatException(
              "file:" + entry,
              "a symbolic link to a folder that contains it: remove the link, or name the folders to be read");
        }
      }
    }
  }

  /**
   * {@return whether this is a symbolic link of the local host to a folder that contains it}
   *
   * @throws IOException if the file system fails
   */
  public boolean isLinkBack() throws IOException {
    java.nio.file.Path local = local();
    return folder
        && local != null
        && Files.isSymbolicLink(local)
        && leadsBack(local.toRealPath(), local.getParent());
  }

  /** Returns whether a folder contains one of those on the way to another. */
  private static boolean leadsBack(java.nio.file.Path target, java.nio.file.Path folder)
      throws IOException {
    for (java.nio.file.Path at = folder; at != null; at = at.getParent()) {
      if (at.toRealPath().startsWith(target)) {
        return true;
      }
    }
    return false;
  }

  /**
   * {@return whether a file or folder of a name never belongs to the data in a folder: its name
   * begins with a dot, or is one with which writers such as Spark mark what they have written}
   *
   * @param name last part of a path
   */
  public static boolean isHidden(String name) {
    return name.startsWith(".") || BOOKKEEPING.matcher(name).matches();
  }

  /**
   * {@return the file or folder at a path relative to this one, such as {@code a.npy} in a folder,
   * or {@code ../a.npy} beside a file}
   *
   * @param relative path relative to this folder
   * @throws FileNotFoundException if there is none
   */
  public InputFile resolve(String relative) throws IOException {
    return new InputFile(fileSystem().getFileStatus(below(relative)), root, hadoop);
  }

  /**
   * {@return the file or folder at a path relative to this folder; empty if there is none, which is
   * found faster than by {@link #resolve}}
   *
   * @param relative path relative to this folder
   * @throws TaskKilledException if the task of this thread was cancelled
   * @throws IOException if the file system fails, or this thread was interrupted
   */
  public Optional<InputFile> find(String relative) throws IOException {
    requireNotCancelled();
    if (local() != null && Files.notExists(local().resolve(relative))) {
      return Optional.empty();
    }
    try {
      return Optional.of(resolve(relative));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  /**
   * {@return whether there is a file or folder at a path relative to this folder}
   *
   * @param relative path relative to this folder
   * @throws IOException if the file system fails
   */
  public boolean has(String relative) throws IOException {
    return fileSystem().exists(below(relative));
  }

  /**
   * Returns a path that is taken as it is: a colon in it does not end the name of a file system.
   */
  private Path below(String relative) {
    return new Path(new Path(path), new Path(null, null, relative));
  }

  /**
   * Opens the file.
   *
   * @return the open file or reader
   * @throws FormatException if the file was written after it was listed
   * @throws FileNotFoundException if it is gone
   */
  public Content open() throws IOException {
    java.nio.file.Path local = local();
    if (local != null && !Files.isRegularFile(local) && Files.exists(local)) {
      throw new FormatException(path, "not a regular file: a pipe or a device cannot be read");
    }
    Content content =
        local == null
            ? new Remote(fileSystem().open(new Path(path)))
            : new Local(FileChannel.open(local, StandardOpenOption.READ));
    try {
      requireUnchanged(local);
    } catch (IOException | RuntimeException e) {
      content.close();
      throw e;
    }
    return content;
  }

  /**
   * Checks after a read that nothing has written the file meanwhile. Applies to local files only:
   * other file systems of Hadoop replace files, and an open one stays as it was.
   *
   * @throws FormatException if it was written
   * @throws IOException if the file system fails
   */
  public void requireUnchanged() throws IOException {
    if (!folder && local() != null) {
      requireUnchanged(local());
    }
  }

  private void requireUnchanged(java.nio.file.Path local) throws IOException {
    long nowBytes;
    long nowModified;
    if (local == null) {
      FileStatus now = fileSystem().getFileStatus(new Path(path));
      nowBytes = now.getLen();
      nowModified = now.getModificationTime();
    } else {
      BasicFileAttributes now = Files.readAttributes(local, BasicFileAttributes.class);
      nowBytes = now.size();
      nowModified = now.lastModifiedTime().toMillis();
    }
    if (nowBytes != length) {
      throw new FormatException(
          path,
          "had %,d bytes when it was listed, has %,d now: read it when nothing writes it"
              .formatted(length, nowBytes));
    }
    if (nowModified != modified) {
      throw new FormatException(
          path, "was written after it was listed: read it when nothing writes it");
    }
  }

  /**
   * {@return the whole content}
   *
   * @throws IOException if the file system fails
   */
  public ByteBuffer readAll() throws IOException {
    if (length > ReadBudget.MAX_ARRAY_LENGTH) {
      throw new FormatException(
          path, "%,d bytes are more than one sample can have".formatted(length));
    }
    ByteBuffer content = ByteBuffer.allocate((int) length);
    try (Content from = open()) {
      from.read(0, content);
    }
    return content.flip();
  }

  /** {@return the path for java.nio; null if the file is not on the local host} */
  public java.nio.file.Path local() {
    java.net.URI uri = new Path(path).toUri();
    return "file".equals(uri.getScheme()) ? java.nio.file.Path.of(uri.getPath()) : null;
  }

  /**
   * {@return the hosts that hold the file, best first; none for files of the local host}
   *
   * @throws IOException if the file system fails
   */
  public String[] hosts() throws IOException {
    if (local() != null || folder) {
      return new String[0];
    }
    org.apache.hadoop.fs.BlockLocation[] blocks =
        fileSystem().getFileBlockLocations(new Path(path), 0, length);
    return blocks.length == 0 ? new String[0] : blocks[0].getHosts();
  }

  @Override
  public String toString() {
    return path;
  }

  /** An open file. Not thread-safe. */
  public abstract static class Content implements Closeable {
    private Content() {}

    /**
     * Reads from a position until a buffer is full.
     *
     * @param position position in the file in bytes
     * @param to buffer to fill
     * @throws EOFException if the file ends before
     * @throws TaskKilledException if the task of this thread was cancelled
     * @throws InterruptedIOException if this thread was interrupted
     */
    public final void read(long position, ByteBuffer to) throws IOException {
      requireNotCancelled();
      readFully(position, to);
    }

    abstract void readFully(long position, ByteBuffer to) throws IOException;

    @Override
    public abstract void close() throws IOException;
  }

  private static final class Local extends Content {
    private final FileChannel channel;

    Local(FileChannel channel) {
      this.channel = channel;
    }

    @Override
    void readFully(long position, ByteBuffer to) throws IOException {
      long at = position;
      while (to.hasRemaining()) {
        int count = channel.read(to, at);
        if (count < 0) {
          throw new EOFException("the file ends at byte %,d".formatted(channel.size()));
        }
        at += count;
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  private static final class Remote extends Content {
    private final FSDataInputStream stream;

    Remote(FSDataInputStream stream) {
      this.stream = stream;
    }

    @Override
    void readFully(long position, ByteBuffer to) throws IOException {
      byte[] bytes = to.hasArray() ? to.array() : new byte[to.remaining()];
      int from = to.hasArray() ? to.arrayOffset() + to.position() : 0;
      int count = to.remaining();
      stream.readFully(position, bytes, from, count);
      if (to.hasArray()) {
        to.position(to.position() + count);
      } else {
        to.put(bytes);
      }
    }

    @Override
    public void close() throws IOException {
      stream.close();
    }
  }
}
