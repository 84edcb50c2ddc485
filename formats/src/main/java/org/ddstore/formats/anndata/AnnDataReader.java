// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/** A reader of one file as a part of a data set. Opens each part when it is used. */
final class AnnDataReader implements SampleReader {
  private final AnnDataFile file;
  private final FileParts parts;
  private final Layout layout;
  private final Collection.Plan plan;
  private final Map<String, FrameColumn> columns = new HashMap<>();
  private final Map<String, Matrix> matrices = new HashMap<>();
  private final Map<String, StoredArray> arrays = new HashMap<>();
  private final Map<String, Slice> slices = new HashMap<>();

  AnnDataReader(AnnDataFile file, FileParts parts, Layout layout) {
    this.file = file;
    this.parts = parts;
    this.layout = layout;
    this.plan = (Collection.Plan) layout.details();
  }

  /** The sparse rows read last: their genes and their values are two columns. */
  private record Slice(long from, int count, SparseRows rows) {}

  @Override
  public Values read(int ordinal, long from, int count) throws IOException {
    SampleColumn column = layout.columns().get(ordinal);
    ColumnSource source = plan.sources().get(ordinal);
    if (!parts.sources().contains(source)) {
      return missing(column, count);
    }
    String name = source.name();
    return switch (source.part()) {
      case NAMES -> frameColumn(source).names(from, count);
      case OBS -> frameColumn(source).read(from, count);
      case OBSM -> obsm(name, column, from, count);
      case DENSE -> column.values(matrix(name).dense(from, count, genes()), count);
      case INDICES -> {
        SparseRows rows = sparse(name, from, count);
        yield Values.ragged(rows.genes(), rows.offsets());
      }
      case VALUES -> {
        SparseRows rows = sparse(name, from, count);
        ByteBuffer values = rows.values().duplicate().order(rows.values().order());
        yield Values.ragged(column.decode(values, rows.genes().length), rows.offsets());
      }
    };
  }

  private Values obsm(String name, SampleColumn column, long from, int count) throws IOException {
    StoredArray array = arrays.get(name);
    if (array == null) {
      array = file.obsm(name);
      arrays.put(name, array);
    }
    return column.values(array.bytes(from, count), count);
  }

  private static Values missing(SampleColumn column, int count) {
    if (column.type() == ElementType.TEXT) {
      return Values.texts(new String[count]);
    }
    BitSet nulls = new BitSet();
    nulls.set(0, count);
    Object zeros = column.decode(ByteBuffer.allocate(count * column.type().bytes()), count);
    return Values.fixed(zeros, count, 1).nulls(nulls);
  }

  private FrameColumn frameColumn(ColumnSource source) throws IOException {
    String place = source.place();
    FrameColumn column = columns.get(place);
    if (column == null) {
      column =
          source.part() == ColumnSource.Part.NAMES ? file.obs().index() : file.obs(source.name());
      columns.put(place, column);
    }
    return column;
  }

  private GeneMap genes() {
    return plan.genes().get(parts.genes());
  }

  private Matrix matrix(String path) throws IOException {
    Matrix matrix = matrices.get(path);
    if (matrix == null) {
      matrix = file.matrix(path);
      matrices.put(path, matrix);
    }
    return matrix;
  }

  private SparseRows sparse(String path, long from, int count) throws IOException {
    Slice last = slices.get(path);
    if (last != null && last.from == from && last.count == count) {
      return last.rows;
    }
    SparseRows rows = matrix(path).sparse(from, count, genes());
    slices.put(path, new Slice(from, count, rows));
    return rows;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
