// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A column that is stored as one or more fields of a record. Immutable. */
abstract class Column implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Result of {@link #observe} for a null value, which has no length. */
  static final int NULL = -1;

  /** Result of {@link #observe} for a sparse vector. */
  static final int SPARSE = -2;

  private final ColumnPath path;

  Column(ColumnPath path) {
    this.path = path;
  }

  final ColumnPath path() {
    return path;
  }

  final String name() {
    return path.name();
  }

  abstract List<Field> fields();

  /** Returns an encoder of this column into records of {@code schema}; not thread-safe. */
  abstract Encoder encoder(Schema schema);

  /**
   * Returns the place of the column in records of {@code schema} for values that are packed; null
   * if they never are.
   */
  BlockPacker.Place packed(Schema schema) {
    return null;
  }

  abstract Column at(ColumnPath path);

  /** Returns whether the form is derived from the data. */
  boolean isOpen() {
    return false;
  }

  /** Returns this open column in a form; {@code length} applies to the uniform form. */
  Column in(ArrayForm form, int length) {
    throw new IllegalArgumentException(
        "column \"%s\" has the declared or only form %s".formatted(name(), fields()));
  }

  /** Returns the rows of inner shape, bytes of text or binary, 0 for a scalar, or a constant. */
  int observe(SpecializedGetters parent, int ordinal) {
    return 0;
  }

  /** Returns the bytes of a record, beyond its fixed fields, per unit of {@link #observe}. */
  int observedBytes() {
    return 0;
  }

  /** An encoder of one column of a row into a record. Does not retain rows; not thread-safe. */
  abstract static class Encoder {
    private final ColumnPath path;
    private final int ordinal;

    Encoder(ColumnPath path) {
      this.path = path;
      this.ordinal = path.ordinal();
    }

    final void encode(InternalRow row, RecordBuffer record) {
      SpecializedGetters parent = path.parent(row);
      if (parent == null || parent.isNullAt(ordinal)) {
        encodeNull(record);
      } else {
        encodeValue(parent, ordinal, record);
      }
    }

    abstract void encodeValue(SpecializedGetters parent, int at, RecordBuffer record);

    abstract void encodeNull(RecordBuffer record);

    final String name() {
      return path.name();
    }

    final IngestException problem(RecordBuffer record, String text) {
      return new IngestException(name(), record.row(), text);
    }

    final ColumnPath columnPath() {
      return path;
    }

    final IngestException nullProblem(RecordBuffer record) {
      return problem(record, "null; " + record.wording().remedyOfNull(path, false));
    }

    IngestException nullElementProblem(RecordBuffer record) {
      return problem(record, "null element; " + record.wording().remedyOfNull(path, true));
    }
  }
}
