// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.ddstore.checkpoint.CheckpointException;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.types.RejectedArgumentException;

/**
 * A {@link CheckpointStorage} in a file system of Hadoop. A published file is created, written and
 * closed once, without a rename: an object store shows it when it is closed. On HDFS a killed
 * writer can leave a prefix of it, which readers of checkpoints recognise.
 */
public final class HadoopStorage implements CheckpointStorage {
  private final FileSystem files; // cached by Hadoop, which closes it
  private final Path directory;

  HadoopStorage(FileSystem files, Path directory) {
    this.files = files;
    this.directory = directory;
  }

  /**
   * Returns the storage of a directory, with the Hadoop configuration of the running executor or
   * driver. Local; nothing is created.
   *
   * @param directory path, with the default file system of the configuration if it has no scheme
   * @throws CheckpointException if no file system serves the path
   * @throws RejectedArgumentException if the path is relative and local
   */
  public static CheckpointStorage ofTask(String directory) {
    try {
      return of(new Path(directory), SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf()));
    } catch (RejectedArgumentException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw new CheckpointException(
          "cannot open %s for checkpoints: %s: pass a path of a file system that the executors have configured"
              .formatted(directory, e.getMessage()),
          e);
    }
  }

  /** Returns the storage of a directory; files of this host need no Hadoop. */
  static CheckpointStorage of(Path directory, Configuration configuration) throws IOException {
    FileSystem files = directory.getFileSystem(configuration);
    if (files instanceof LocalFileSystem && !directory.isAbsolute()) {
      throw new RejectedArgumentException(
          "directory of checkpoints \"%s\" is relative, and each executor has a working directory of its own: give an absolute path of a directory that all hosts share"
              .formatted(directory));
    }
    Path qualified = files.makeQualified(directory);
    return files instanceof LocalFileSystem
        ? CheckpointStorage.local(java.nio.file.Path.of(qualified.toUri().getPath()))
        : new HadoopStorage(files, qualified);
  }

  private Path path(String relative) {
    return relative.isEmpty() ? directory : new Path(directory, relative);
  }

  @Override
  public OutputStream create(String file) throws IOException {
    try {
      return new NewFile(files.create(path(file), false));
    } catch (FSError e) {
      throw NewFile.exceptionOf(e);
    }
  }

  @Override
  public void publish(String file, byte[] content) throws IOException {
    try (OutputStream out = create(file)) {
      out.write(content);
    }
  }

  @Override
  public InputStream open(String file) throws IOException {
    return new CheckedFile(files.open(path(file)));
  }

  @Override
  public List<Entry> list(String folder) throws IOException {
    List<Entry> entries = new ArrayList<>();
    try {
      for (FileStatus status : files.listStatus(path(folder))) {
        if (status.getPath().equals(path(folder))) { // the entry of a file is the file itself
          throw new NotDirectoryException(path(folder).toString());
        }
        entries.add(new Entry(status.getPath().getName(), status.getLen(), status.isDirectory()));
      }
    } catch (FileNotFoundException e) {
      return List.of();
    }
    return entries;
  }

  @Override
  public void delete(String path) throws IOException {
    if (!files.delete(path(path), true) && files.exists(path(path))) {
      throw new IOException("cannot delete " + path(path));
    }
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
