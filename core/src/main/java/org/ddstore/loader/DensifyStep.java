// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * A conversion of sparse rows to dense ones: {@code [rows, width]}, with the values of one ragged
 * field at the columns that another field names, and zeros elsewhere.
 *
 * @param columns ragged field of int32 or int64 scalars in [0, width)
 * @param values ragged field of scalars, in every row of the same length as {@code columns}
 */
record DensifyStep(Field columns, Field values, int width) implements FieldStep {
  DensifyStep {
    boolean index = columns.dtype() == DType.INT32 || columns.dtype() == DType.INT64;
    boolean scalars = columns.shape().length == 0 && values.shape().length == 0;
    if (!columns.isRagged() || !values.isRagged() || !index || !scalars || width < 1) {
      throw new IllegalArgumentException(
          "densify of %s by %s to %d columns: give ragged scalars, int32 or int64 columns, and a width of at least 1"
              .formatted(values, columns, width));
    }
  }

  @Override
  public long bytes(long inBytes) {
    return (long) width * values.dtype().bytes();
  }

  @Override
  public Tensor apply(Tensor in, Slot slot, GrowingBuffer memory) {
    Tensor offsets = slot.read().offsets(values.name());
    Tensor other = slot.read().offsets(columns.name());
    Tensor at = slot.read().field(columns.name());
    int rows = Math.toIntExact(offsets.rows() - 1);
    int bytes = values.dtype().bytes();
    long size = (long) rows * width * bytes;
    if (size > GrowingBuffer.MAX_BYTES) {
      throw new IllegalArgumentException(
          "%,d dense rows of %,d columns have %,d bytes; a tensor has at most %,d: read fewer rows per batch"
              .formatted(rows, width, size, GrowingBuffer.MAX_BYTES));
    }
    ByteBuffer source = in.asByteBuffer();
    ByteBuffer target = memory.ensure(size);
    Zeros.fill(target, 0, (int) size);
    for (int row = 0; row < rows; row++) {
      checkLength(slot, other, offsets, row);
      for (long i = offsets.getLong(row); i < offsets.getLong(row + 1L); i++) {
        long column = at.getLong(i);
        if (column < 0 || column >= width) {
          throw new IndexOutOfBoundsException(
              "column %,d of \"%s\" in row %,d outside [0, %,d)"
                  .formatted(column, columns.name(), slot.row(row), width));
        }
        target.put((int) ((long) row * width + column) * bytes, source, (int) i * bytes, bytes);
      }
    }
    return Tensor.wrap(values.dtype(), target.slice(0, (int) size), rows, width);
  }

  private void checkLength(Slot slot, Tensor other, Tensor offsets, int row) {
    if (other.getLong(row + 1L) != offsets.getLong(row + 1L)) {
      throw new IllegalArgumentException(
          "\"%s\" and \"%s\" have different lengths in row %,d"
              .formatted(columns.name(), values.name(), slot.row(row)));
    }
  }
}
