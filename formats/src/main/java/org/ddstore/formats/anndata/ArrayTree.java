// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.zarr.ZarrGroup;

/**
 * An open file of groups and arrays, each with attributes. Paths inside it are such as {@code
 * obs/cell_type}; the root is the empty path. Not thread-safe.
 */
interface ArrayTree extends Closeable {
  String file();

  /** {@return the exception about an object of this file} */
  default FormatException problem(String path, String problem) {
    return FormatException.of(file(), path, problem);
  }

  /** {@return the path, no name in which can lead out of the file or folder} */
  default String requireInside(String path) {
    if (!path.isEmpty() && !ZarrGroup.isInside(path)) { // the root is the empty path
      throw problem(
          path,
          "the name can lead out of the file: names have no part that is empty, \".\" or \"..\"");
    }
    return path;
  }

  boolean isGroup(String path) throws IOException;

  boolean isArray(String path) throws IOException;

  /** {@return the names of the groups and arrays in a group, ordered} */
  List<String> children(String path) throws IOException;

  boolean hasAttribute(String path, String attribute) throws IOException;

  /**
   * {@return an attribute that is a text, or as R writes it, a list of one; empty if it is missing
   * or something else}
   */
  default Optional<String> text(String path, String attribute) throws IOException {
    return texts(path, attribute).filter(texts -> texts.size() == 1).map(texts -> texts.get(0));
  }

  /** {@return an attribute that is a text or a list of texts; empty for others, or if missing} */
  Optional<List<String>> texts(String path, String attribute) throws IOException;

  /** {@return an attribute that is a list of integers; empty if it is missing or something else} */
  Optional<long[]> integers(String path, String attribute) throws IOException;

  /** {@return the array at a path, which must exist} It is valid until the file is closed. */
  StoredArray array(String path) throws IOException;

  /**
   * {@return the paths of files in the tree that look like chunks of the arrays that were opened,
   * but are not under keys that their metadata name; not all if they are many}
   *
   * @throws FormatException if an array has files of chunks, but none that its metadata name
   */
  default List<String> misplacedChunks() throws IOException {
    return List.of();
  }
}
