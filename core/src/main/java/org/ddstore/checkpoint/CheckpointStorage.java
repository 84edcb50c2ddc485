// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * A directory for checkpoints that all ranks can reach: on a file system or in an object store. All
 * methods are thread-safe, block, and take paths relative to the directory, with {@code /} between
 * names. Needs no rename and no append: a published checkpoint begins to exist with one file, its
 * manifest.
 */
public interface CheckpointStorage {
  /**
   * A file or a folder.
   *
   * @param name last name of its path
   * @param lengthBytes number of bytes of a file; unspecified for a folder
   * @param folder whether it is a folder
   */
  record Entry(String name, long lengthBytes, boolean folder) {}

  /**
   * Creates a file and the folders above it. The content is durable when the stream is closed.
   *
   * @param file path of a file that does not exist
   * @return stream of the content, closed by the caller
   * @throws IOException if the file exists or cannot be created
   */
  OutputStream create(String file) throws IOException;

  /**
   * Creates a file of known content, if possible in one step. If the process ends meanwhile, a
   * prefix of the content can remain, which readers recognise. A temporary file has the name {@code
   * .NAME.tmp}.
   *
   * @param file name of a file that does not exist
   * @param content all bytes of the file
   * @throws IOException if the file cannot be created
   */
  void publish(String file, byte[] content) throws IOException;

  /**
   * Opens a file from its begin.
   *
   * @param file path of a file
   * @return stream of the content, closed by the caller; it throws {@link
   *     java.io.StreamCorruptedException} if a checksum of the storage shows that the content has
   *     changed
   * @throws IOException if the file does not exist or cannot be read
   */
  InputStream open(String file) throws IOException;

  /**
   * Lists what a folder contains, not what folders in it contain.
   *
   * @param folder path of a folder; empty for the directory itself
   * @return entries in any order; none if the folder does not exist
   * @throws IOException if the folder cannot be read
   */
  List<Entry> list(String folder) throws IOException;

  /**
   * Deletes a file, or a folder with everything in it; does nothing if it does not exist.
   *
   * @param path path of a file or folder
   * @throws IOException if it cannot be deleted
   */
  void delete(String path) throws IOException;

  /**
   * Checks that the directory can be listed or created, without a change. Lists the directory by
   * default. A save can still fail, for example because the disk is full.
   *
   * @throws IOException if it can be neither listed nor created
   */
  default void check() throws IOException {
    list("");
  }

  /** {@return the location of the directory, for messages} */
  @Override
  String toString();

  /**
   * Returns a storage in a directory that every rank reaches by the same path. The directory is
   * created with the first checkpoint; the directory above it must exist. Local, does not block.
   *
   * @param directory directory of the checkpoints
   * @return the storage
   */
  static CheckpointStorage local(Path directory) {
    return new LocalStorage(directory);
  }
}
