// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.Values;

/** A table of AnnData, {@code obs} or {@code var}: an index and columns of the same length. */
record Frame(ArrayTree tree, String path, String indexName) {
  private static final String INDEX = "_index";
  private static final String COLUMNS = "column-order";

  /** Opens a table; one of a version before 0.7 is refused. */
  static Frame open(ArrayTree tree, String path) throws IOException {
    if (tree.isArray(path)) {
      throw tree.problem(
          path,
          "is a compound table, as AnnData wrote before version 0.7: read and write the file with a"
              + " newer AnnData");
    }
    if (!tree.isGroup(path)) {
      throw tree.problem(path, "missing: the file was not written by AnnData");
    }
    String encoding = Encoding.of(tree, path);
    if (!encoding.isEmpty() && !encoding.equals(Encoding.DATAFRAME)) {
      throw Encoding.unsupported(tree, path, encoding, Encoding.DATAFRAME);
    }
    String index =
        tree.text(path, INDEX)
            .orElseThrow(() -> tree.problem(path, "the attribute %s is missing".formatted(INDEX)));
    return new Frame(tree, path, index);
  }

  /**
   * {@return the names of the columns without the index, in their order; in ascending order if the
   * table has no list, which some writers leave out if it is empty}
   */
  List<String> columns() throws IOException {
    Optional<List<String>> ordered = tree.texts(path, COLUMNS);
    if (ordered.isPresent()) {
      return ordered.get();
    }
    List<String> columns = new ArrayList<>(tree.children(path));
    columns.removeAll(List.of(indexName, FrameColumn.LEGACY_CATEGORIES));
    return columns;
  }

  /** {@return whether there is a table at a path} */
  static boolean isTable(ArrayTree tree, String path) throws IOException {
    return tree.isGroup(path) && tree.text(path, INDEX).isPresent();
  }

  /** {@return the index, whose values are names: texts or integers} */
  FrameColumn index() throws IOException {
    FrameColumn names = FrameColumn.open(tree, path, indexName, FrameColumn.Categoricals.TEXT);
    SampleColumn column = names.column(indexName);
    switch (column.type()) {
      case BOOL, FLOAT16, FLOAT32, FLOAT64 ->
          throw tree.problem(path + "/" + indexName, "is %s, not names".formatted(column.type()));
      default -> {
        return names;
      }
    }
  }

  FrameColumn column(String name, FrameColumn.Categoricals categoricals) throws IOException {
    return FrameColumn.open(tree, path, name, categoricals);
  }

  long rows() throws IOException {
    return index().rows();
  }

  /** {@return all values of the index, as texts; none may be missing} */
  List<String> names() throws IOException {
    FrameColumn names = index();
    long rows = names.rows();
    String place = path + "/" + indexName;
    ReadBudget.requireHeld(
        tree.file(),
        place,
        Math.min(rows, Long.MAX_VALUE / ReadBudget.TEXT_BYTES) * ReadBudget.TEXT_BYTES);
    if (rows > Integer.MAX_VALUE) {
      throw tree.problem(place, "has %,d names, at most 2^31-1 are supported".formatted(rows));
    }
    if (rows == 0) {
      return List.of();
    }
    Values values = names.names(0, (int) rows);
    String[] texts = (String[]) values.data();
    for (int i = 0; i < texts.length; i++) {
      if (values.isNull(i)) {
        throw tree.problem(
            place,
            "the name of row %,d is missing: give all rows of %s a name, and write the file again"
                .formatted(i, path));
      }
    }
    return List.of(texts);
  }
}
