package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A column that becomes one or several fields of a record. Immutable. */
abstract class Column implements Serializable {
  private static final long serialVersionUID = 1L;

  /** In place of what {@link #observe} gives: there is no value, hence no common length. */
  static final int NULL = -1;

  /** Of {@link #observe}: a sparse vector. */
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

  /** A writer of this column's fields into records of {@code schema}; not shared by threads. */
  abstract ColumnEncoder encoder(Schema schema);

  /** The same column at another place of the rows. */
  abstract Column at(ColumnPath newPath);

  /** True if the form must be found out from the data. */
  boolean isOpen() {
    return false;
  }

  /** This column in a form that {@link #isOpen} ones have, uniform ones of {@code length}. */
  Column in(ArrayForm form, int length) {
    throw new IllegalArgumentException(
        "column \"%s\" has the declared or only form %s".formatted(name(), fields()));
  }

  /** Rows of the inner shape, bytes of text or binary, 0 for a scalar, or a constant above. */
  int observe(SpecializedGetters parent, int ordinal) {
    return 0;
  }

  /** Bytes of a record per unit that {@link #observe} counts, above the fixed fields. */
  int observedBytes() {
    return 0;
  }
}
