// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.ddstore.spark.types.PackedVector;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The place in a record of a column whose values may be {@link PackedVector packed}.
 *
 * @param ordinal ordinal of the column in a row
 * @param place offset in the record
 * @param type element type
 * @param elements number of elements
 */
record PackedField(int ordinal, int place, DType type, int elements) {
  /** Returns the place of a column; null if it is in a struct, or its field is ragged. */
  static PackedField of(ColumnPath path, Schema schema) {
    int index = schema.indexOf(path.name());
    Field field = schema.field(index);
    return path.names().size() > 1 || field.isRagged()
        ? null
        : new PackedField(path.top(), schema.fixedOffset(index), field.dtype(), field.elements());
  }

  /** Returns the size of a value in bytes. */
  int bytes() {
    return elements * type.bytes();
  }
}
