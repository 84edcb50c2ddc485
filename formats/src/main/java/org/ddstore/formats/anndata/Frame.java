// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;

/** A table of AnnData, {@code obs} or {@code var}: an index and columns of the same length. */
final class Frame {
  private static final String INDEX = "_index";
  private static final String COLUMNS = "column-order";

  private final ArrayTree tree;
  private final String path;
  private final String index;

  private Frame(ArrayTree tree, String path, String index) {
    this.tree = tree;
    this.path = path;
    this.index = index;
  }

  /**
   * Opens a table.
   *
   * @throws FormatException if it is missing, or written by a version before 0.7
   */
  static Frame open(ArrayTree tree, String path) throws IOException {
    if (tree.isArray(path)) {
      throw FormatException.of(
          tree.file(),
          path,
          "is a compound table, as AnnData wrote before version 0.7: read and write the file with a"
              + " newer AnnData");
    }
    if (!tree.isGroup(path)) {
      throw FormatException.of(tree.file(), path, "missing: the file was not written by AnnData");
    }
    String encoding = Encoding.of(tree, path);
    if (!encoding.isEmpty() && !encoding.equals(Encoding.DATAFRAME)) {
      throw Encoding.unsupported(tree, path, encoding, Encoding.DATAFRAME);
    }
    String index =
        tree.text(path, INDEX)
            .orElseThrow(
                () ->
                    FormatException.of(
                        tree.file(), path, "the attribute %s is missing".formatted(INDEX)));
    return new Frame(tree, path, index);
  }

  /**
   * {@return the names of the columns without the index, in their order; in ascending order if the
   * table tells none, as other writers leave out an empty list}
   */
  List<String> columns() throws IOException {
    Optional<List<String>> ordered = tree.texts(path, COLUMNS);
    if (ordered.isPresent()) {
      return ordered.get();
    }
    List<String> columns = new ArrayList<>(tree.children(path));
    columns.removeAll(List.of(index, FrameColumn.LEGACY_CATEGORIES));
    return columns;
  }

  /** {@return the index, whose values are names} */
  FrameColumn index() throws IOException {
    return FrameColumn.open(tree, path, index, FrameColumn.Categoricals.TEXT);
  }

  FrameColumn column(String name, FrameColumn.Categoricals categoricals) throws IOException {
    return FrameColumn.open(tree, path, name, categoricals);
  }

  /** {@return the number of rows} */
  long rows() throws IOException {
    return index().rows();
  }

  /** {@return all values of the index, as texts} */
  List<String> names() throws IOException {
    String file = tree.file();
    StoredArray array = tree.array(path + "/" + index);
    int count = Math.toIntExact(array.shape()[0]);
    if (count == 0) {
      return List.of();
    }
    if (array.type() == ElementType.TEXT) {
      return List.of(array.texts(0, count));
    }
    Integers.require(file, array);
    List<String> names = new ArrayList<>(count);
    for (long name : Integers.longs(array, 0, count)) {
      names.add(Long.toString(name));
    }
    return names;
  }
}
