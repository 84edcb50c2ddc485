// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.anndata.ColumnSource.Part;

/** An open file of AnnData. */
final class AnnDataFile implements Closeable {
  static final String NAMES = "obs_name";
  static final String X = "X";

  private static final String LAYERS = "layers";
  private static final String OBSM = "obsm";

  private final InputFile input;
  private final ArrayTree tree;
  private final AnnDataOptions options;
  private final Frame obs;

  private AnnDataFile(InputFile input, ArrayTree tree, AnnDataOptions options) throws IOException {
    this.input = input;
    this.tree = tree;
    this.options = options;
    String encoding = Encoding.of(tree, "");
    if (!encoding.isEmpty() && !encoding.equals(Encoding.ANNDATA)) {
      throw new FormatException(
          input.path(), "the root has the encoding \"%s\", not anndata".formatted(encoding));
    }
    this.obs = Frame.open(tree, "obs");
  }

  static AnnDataFile open(InputFile input, AnnDataOptions options) throws IOException {
    ArrayTree tree =
        input.isFolder()
            ? ZarrTree.open(input, options.links())
            : HdfTree.open(input, options.links());
    try {
      return new AnnDataFile(input, tree, options);
    } catch (IOException | RuntimeException e) {
      tree.close();
      throw e;
    }
  }

  List<String> genes() throws IOException {
    return Frame.open(tree, "var").names();
  }

  Frame obs() {
    return obs;
  }

  FrameColumn obs(String name) throws IOException {
    return obs.column(name, options.categoricals());
  }

  Matrix matrix(String path) throws IOException {
    return Matrix.open(tree, path);
  }

  /** Opens an array of obsm; refuses all else, such as a table. */
  StoredArray obsm(String name) throws IOException {
    String path = OBSM + "/" + name;
    String encoding = Encoding.of(tree, path);
    if (!tree.isArray(path)) {
      throw Encoding.unsupported(tree, path, encoding, Encoding.ARRAY);
    }
    StoredArray array = tree.array(path);
    long width = array.shape().length == 2 ? array.shape()[1] : 0;
    if (array.type() == ElementType.TEXT || width < 1 || width > Integer.MAX_VALUE) {
      throw array.problem(
          "is %s of shape %s, not numbers in two dimensions with 1 to 2^31-1 columns"
              .formatted(array.type(), Arrays.toString(array.shape())));
    }
    return array;
  }

  /** {@return rows and columns of the file, and where they are} */
  FileFacts facts() throws IOException {
    Collector parts = new Collector(obs.rows());
    parts.addObs();
    String genes = "";
    if (options.hasMatrix()) {
      List<String> names = genes();
      genes = FileParts.digest(names);
      if (options.hasX()) {
        parts.addMatrix(X, X, names.size());
      }
      List<String> layers = options.layers().select(input.path(), LAYERS, tree.children(LAYERS));
      for (String layer : layers) {
        parts.addMatrix(LAYERS + "_" + layer, LAYERS + "/" + layer, names.size());
      }
    }
    for (String name : options.obsm().select(input.path(), OBSM, tree.children(OBSM))) {
      StoredArray array = obsm(name);
      parts.requireRows(array.path(), array.shape()[0]);
      int width = (int) array.shape()[1];
      parts.add(SampleColumn.fixed(OBSM + "_" + name, array.type(), width), Part.OBSM, name);
    }
    return new FileFacts(
        input,
        parts.rows,
        Math.max(1, parts.runRows),
        parts.columns,
        new FileParts(parts.sources, genes, parts.codes, tree.misplacedChunks()));
  }

  /** The columns found so far. */
  private final class Collector {
    private final long rows;
    private final List<SampleColumn> columns = new ArrayList<>();
    private final List<ColumnSource> sources = new ArrayList<>();
    private final Map<String, String> codes = new HashMap<>();
    private int runRows;

    Collector(long rows) {
      this.rows = rows;
    }

    void add(SampleColumn column, Part part, String name) {
      columns.add(column);
      sources.add(new ColumnSource(part, name));
    }

    void requireRows(String path, long found) {
      if (found != rows) {
        throw tree.problem(
            path, "has %,d rows, but obs has %,d: the file is damaged".formatted(found, rows));
      }
    }

    void addObs() throws IOException {
      List<String> present = new ArrayList<>(List.of(NAMES));
      present.addAll(obs.columns());
      List<String> selected =
          options.missingIsNull()
              ? options.obs().selectPresent(present)
              : options.obs().select(input.path(), "obs", present);
      if (selected.contains(NAMES) && obs.columns().contains(NAMES)) {
        throw tree.problem(
            "obs/" + NAMES,
            "has the name of the column of the index: rename it, or select other columns by the option "
                + FormatOptionKeys.OBS);
      }
      for (String name : selected) {
        if (name.equals(NAMES)) {
          SampleColumn names = SampleColumn.fixed(NAMES, ElementType.TEXT);
          boolean mayMiss = obs.index().column(NAMES).isNullable();
          add(mayMiss ? names.orNull() : names, Part.NAMES, NAMES);
          continue;
        }
        FrameColumn column = obs(name);
        requireRows("obs/" + name, column.rows());
        add(column.column(name), Part.OBS, name);
        if (options.categoricals() == FrameColumn.Categoricals.CODES) {
          codes.put(name, FileParts.digest(List.of(column.codedCategories())));
        }
      }
    }

    void addMatrix(String name, String path, int genes) throws IOException {
      Matrix matrix = matrix(path);
      requireRows(path, matrix.rows());
      if (matrix.genes() != genes) {
        throw tree.problem(
            path,
            "has %,d columns, but var has %,d rows: the file is damaged"
                .formatted(matrix.genes(), genes));
      }
      if (genes == 0) {
        throw tree.problem(path, "has no genes: set the option x to none and select no layers");
      }
      if (runRows == 0 && !matrix.isSparse()) {
        runRows = matrix.runRows();
      }
      boolean sparse =
          switch (options.x()) {
            case STORED -> matrix.isSparse();
            case DENSE -> false;
            case SPARSE -> true;
          };
      if (sparse) {
        int length = matrix.meanLength();
        add(
            SampleColumn.ragged(name + "_indices", ElementType.INT32).meanLength(length),
            Part.INDICES,
            path);
        add(
            SampleColumn.ragged(name + "_values", matrix.type()).meanLength(length),
            Part.VALUES,
            path);
      } else {
        add(SampleColumn.fixed(name, matrix.type(), genes), Part.DENSE, path);
      }
    }
  }

  @Override
  public void close() throws IOException {
    tree.close();
  }
}
