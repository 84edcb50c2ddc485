// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.Serializable;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.ddstore.spark.types.DumpException;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The directory of a dump in a file system of Hadoop. Sent to the executors with the configuration
 * of the file system. Immutable.
 *
 * <pre>
 * directory/
 *   rows-ID/            data files of the dump with this id, see {@link DumpedFile}
 *   manifest-NUMBER-ID  see {@link DumpManifest}; written last, so a dump without it is unfinished
 * </pre>
 */
public final class DumpDirectory implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Prefix of the settings of Spark that are passed on to Hadoop. */
  private static final String HADOOP = "spark.hadoop.";

  /** Schemes of file systems that Hadoop can only read. */
  private static final Set<String> NO_DIRECTORIES = Set.of("http", "https");

  private static final String OPEN = "open the file system of";

  private final String path;
  private final SerializableConfiguration configuration;

  private DumpDirectory(String path, SerializableConfiguration configuration) {
    this.path = path;
    this.configuration = configuration;
  }

  /**
   * Returns the directory of a path, with the file systems that a session is configured for.
   *
   * @param path path with or without the scheme of a file system; the default file system of Hadoop
   *     is used without one
   * @throws IllegalArgumentException if the path is illegal
   * @throws IllegalStateException if the application of the session has ended
   */
  public static DumpDirectory of(SparkSession session, String path) {
    if (session.sparkContext().isStopped()) {
      throw new IllegalStateException(
          "cannot use %s for a dump: the Spark application of the session has ended; use a running session"
              .formatted(path));
    }
    Configuration configuration = new Configuration(session.sparkContext().hadoopConfiguration());
    CollectionConverters.asJava(session.conf().getAll())
        .forEach(
            (key, value) -> {
              if (key.startsWith(HADOOP)) {
                configuration.set(key.substring(HADOOP.length()), value);
              } else if (!key.startsWith("spark.")) {
                configuration.set(key, value);
              }
            });
    return of(path, configuration);
  }

  static DumpDirectory of(String path, Configuration configuration) {
    if (path.isBlank()) {
      throw new IllegalArgumentException(
          "path of a dump is \"%s\": give a directory, such as hdfs:///dumps/train"
              .formatted(path));
    }
    Path parsed = new Path(path);
    if (NO_DIRECTORIES.contains(scheme(parsed))) {
      throw new IllegalArgumentException(
          "%s cannot contain a dump, because file system \"%s\" has no directories: give a directory in another one, such as HDFS"
              .formatted(path, scheme(parsed)));
    }
    String qualified = fileSystem(parsed, configuration).makeQualified(parsed).toString();
    return new DumpDirectory(qualified, new SerializableConfiguration(configuration));
  }

  private static String scheme(Path path) {
    return String.valueOf(path.toUri().getScheme()).toLowerCase(Locale.ROOT);
  }

  /** Returns the file system of a path. Hadoop throws a bare exception if it lacks a class. */
  private static FileSystem fileSystem(Path path, Configuration configuration) {
    try {
      return path.getFileSystem(configuration);
    } catch (IOException e) {
      throw failure(OPEN, path.toString(), e);
    } catch (RuntimeException | LinkageError e) {
      Throwable root = e;
      while (root.getCause() != null) {
        root = root.getCause();
      }
      throw root instanceof ClassNotFoundException || root instanceof LinkageError
          ? new DumpException(
              "cannot %s %s: %s: add the library of scheme \"%s\" to the class path of driver and executors; for s3a this is hadoop-aws"
                  .formatted(OPEN, path, text(root), scheme(path)),
              e)
          : failure(OPEN, path.toString(), root);
    }
  }

  public String path() {
    return path;
  }

  /** Access to the file system that can fail. */
  @FunctionalInterface
  interface Access<T> {
    T run(FileSystem files) throws IOException;
  }

  /**
   * Runs an access.
   *
   * @param verb first words of what it does, for the message, such as {@code list}
   * @param entry name of the entry that it concerns; empty for the directory itself
   */
  <T> T access(String verb, String entry, Access<T> access) {
    Path target = entry(entry);
    try {
      return access.run(fileSystem(target, configuration.value()));
    } catch (IOException | FSError e) {
      throw failure(verb, target.toString(), e);
    }
  }

  /** Returns the path of an entry; that of the directory for an empty name. */
  Path entry(String name) {
    return name.isEmpty() ? new Path(path) : new Path(path, name);
  }

  /** Returns the names and kinds of the entries of a folder, or of the directory. */
  List<FileStatus> list(String folder) {
    return access("list", folder, files -> Arrays.asList(files.listStatus(entry(folder))));
  }

  /** Creates a folder. */
  void createFolder(String name) {
    access(
        "create",
        name,
        files -> {
          if (!files.mkdirs(entry(name))) {
            throw new IOException("the file system refused to create the directory");
          }
          return null;
        });
  }

  /** Creates a file, which must not exist. The caller closes the stream. */
  FSDataOutputStream create(String name) {
    return access("create", name, files -> files.create(entry(name), false));
  }

  /** Creates a file, which must not exist, with its content, and forces it to the disks. */
  void write(String name, byte[] content) {
    access(
        "write",
        name,
        files -> {
          FSDataOutputStream out = files.create(entry(name), false);
          try {
            out.write(content);
            sync(out);
          } finally {
            out.close(); // HDFS throws the same exception again, which cannot suppress itself
          }
          return null;
        });
  }

  /** Returns the paths of the directory and those above it that do not exist, the deepest first. */
  List<String> missing() {
    return access(
        "read",
        "",
        files -> {
          List<String> paths = new ArrayList<>();
          for (Path each = entry(""); each != null && !files.exists(each); ) {
            paths.add(each.toString());
            each = each.getParent();
          }
          return paths;
        });
  }

  /** Deletes directories of {@link #missing()} that are empty now. */
  void deleteEmpty(List<String> directories) {
    for (String path : directories) {
      try {
        access("delete", "", files -> files.delete(new Path(path), false));
      } catch (DumpException e) {
        return; // something else is in it, and so in those above it
      }
    }
  }

  /** Opens a file. The caller closes the stream. */
  FSDataInputStream open(String name) {
    return access("open", name, files -> files.open(entry(name)));
  }

  void delete(String name) {
    access("delete", name, files -> files.delete(entry(name), true));
  }

  /** Forces written bytes to the disks, where the file system can. */
  static void sync(FSDataOutputStream out) throws IOException {
    if (out.hasCapability(StreamCapabilities.HSYNC)) {
      out.hsync();
    }
  }

  /**
   * Returns the exception of a failed access. Sets the interrupt flag of the thread if an interrupt
   * caused the failure.
   *
   * @param thrown exception of a file system, or the error by which that of local files passes on
   *     its exceptions
   */
  static DumpException failure(String verb, String target, Throwable thrown) {
    Throwable e =
        thrown instanceof FSError && thrown.getCause() != null ? thrown.getCause() : thrown;
    if (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException)) {
      Thread.currentThread().interrupt();
    }
    return new DumpException("cannot %s %s: %s%s".formatted(verb, target, text(e), remedy(e)), e);
  }

  private static String text(Throwable e) {
    String message = e.getMessage();
    return message == null || message.isEmpty()
        ? e.getClass().getSimpleName()
        : message.lines().findFirst().orElse(message);
  }

  private static String remedy(Throwable e) {
    String text = text(e).toLowerCase(Locale.ROOT);
    if (text.contains("permission denied") || text.contains("access denied")) {
      return ": give user \"%s\" access to the directory, or choose another one".formatted(user());
    }
    if (text.contains("no space left") || text.contains("quota")) {
      return ": free space, or choose another directory";
    }
    return "";
  }

  private static String user() {
    try {
      return UserGroupInformation.getCurrentUser().getShortUserName();
    } catch (IOException e) {
      return System.getProperty("user.name");
    }
  }

  @Override
  public String toString() {
    return path;
  }
}
