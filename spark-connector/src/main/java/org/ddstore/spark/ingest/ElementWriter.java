// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;

/**
 * A writer of the elements of number arrays: in bulk if the element type is unchanged, else one by
 * one. Not thread-safe.
 */
final class ElementWriter {
  private final Column.Encoder owner;
  private final NumberSource numbers;
  private final DType dtype;
  private final NumberStore store;
  private final boolean mayHaveNull;
  private final Serializable fill;

  /**
   * @param mayHaveNull whether the column's type allows null elements
   * @param fill replacement of null elements, or null
   */
  ElementWriter(
      Column.Encoder owner,
      NumberSource numbers,
      DType dtype,
      boolean mayHaveNull,
      Serializable fill) {
    this.owner = owner;
    this.numbers = numbers;
    this.dtype = dtype;
    this.store = new NumberStore(dtype);
    this.mayHaveNull = mayHaveNull;
    this.fill = fill;
  }

  /** Writes the first {@code count} elements to {@code place} and after it. */
  void write(ArrayData array, int count, RecordBuffer record, int place) {
    boolean hasNull = mayHaveNull && NumberType.hasNull(array, count);
    if (!hasNull && numbers.isStoredAs(dtype)) {
      numbers.type().copy(array, count, record.bytes(), place);
      return;
    }
    if (hasNull && fill == null) {
      throw owner.nullElementProblem(record);
    }
    int step = dtype.bytes();
    for (int i = 0; i < count; i++) {
      if (hasNull && array.isNullAt(i)) {
        fill(record, place + i * step, 1, fill);
      } else if (numbers.type().isFloating()) {
        double value = numbers.getDouble(array, i);
        if (!store.put(record.view(), place + i * step, value)) {
          throw outside(record, value);
        }
      } else {
        long value = numbers.getLong(array, i);
        if (!store.put(record.view(), place + i * step, value)) {
          throw outside(record, value);
        }
      }
    }
  }

  void fill(RecordBuffer record, int place, int count, Object value) {
    for (int i = 0; i < count; i++) {
      if (!store.putValue(record.view(), place + i * dtype.bytes(), value)) {
        throw outside(record, value);
      }
    }
  }

  private IngestException outside(RecordBuffer record, Object value) {
    return owner.problem(
        record, "element %s is outside %s of %s".formatted(value, store.range(), dtype));
  }
}
