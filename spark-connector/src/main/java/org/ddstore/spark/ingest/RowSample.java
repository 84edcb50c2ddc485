// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.spark.failure.TaskResults;

/**
 * The lengths of values in a sample of rows. A wrong guess from the sample is harmless: {@link
 * NotUniformException} corrects it, and because only columns whose rows all have one length stay
 * uniform, the outcome does not depend on the sample.
 */
final class RowSample {
  private static final int PARTITIONS = 4;
  private static final int ROWS_OF_EACH = 64;

  /** Results of {@link Column#observe}, by row and column. */
  private final List<int[]> observations;

  private RowSample(List<int[]> observations) {
    this.observations = observations;
  }

  static RowSample take(OrderedRows rows, List<Column> columns) {
    boolean needed =
        columns.stream().anyMatch(column -> column.isOpen() || column.observedBytes() > 0);
    if (!needed || rows.rows() == 0) {
      return new RowSample(List.of());
    }
    List<Column> captured = List.copyOf(columns);
    List<List<int[]>> observed =
        TaskResults.of(
            rows.sample(PARTITIONS, ROWS_OF_EACH),
            (task, sampled) -> {
              List<int[]> found = new ArrayList<>();
              while (sampled.hasNext()) {
                found.add(observe(sampled.next(), captured));
              }
              return found;
            });
    return new RowSample(observed.stream().flatMap(List::stream).toList());
  }

  private static int[] observe(InternalRow row, List<Column> columns) {
    int[] found = new int[columns.size()];
    for (int i = 0; i < found.length; i++) {
      ColumnPath path = columns.get(i).path();
      SpecializedGetters parent = path.parent(row);
      found[i] =
          parent == null || parent.isNullAt(path.ordinal())
              ? Column.NULL
              : columns.get(i).observe(parent, path.ordinal());
    }
    return found;
  }

  /** Returns the columns in the smallest form that the sampled rows allow. */
  List<Column> guess(List<Column> columns) {
    List<Column> guessed = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      guessed.add(columns.get(i).isOpen() ? guess(columns.get(i), i) : columns.get(i));
    }
    return guessed;
  }

  private Column guess(Column column, int index) {
    int length = Column.NULL;
    boolean uniform = true;
    for (int[] row : observations) {
      if (row[index] == Column.SPARSE) {
        return column.in(ArrayForm.SPARSE, 0);
      }
      uniform &= row == observations.get(0) || length == row[index];
      length = row[index];
    }
    return uniform && length > 0
        ? column.in(ArrayForm.UNIFORM, length)
        : column.in(ArrayForm.RAGGED, 0);
  }

  /** Returns the mean bytes of ragged data per row. */
  double raggedBytes(List<Column> columns) {
    double bytes = 0;
    for (int[] row : observations) {
      for (int i = 0; i < row.length; i++) {
        bytes += (double) Math.max(0, row[i]) * columns.get(i).observedBytes();
      }
    }
    return observations.isEmpty() ? 0 : bytes / observations.size();
  }
}
