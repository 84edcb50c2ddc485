// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.types.Field;

/**
 * A conversion of a ragged field to a dense one: {@code [rows, length, innerShape...]}, with zeros
 * at the end of shorter rows. The row offsets stay available and give the length of each row.
 *
 * @param length length in all batches, or 0 for the longest row of each batch
 */
record PadStep(Field field, int length) implements FieldStep {
  PadStep {
    if (!field.isRagged() || length < 0) {
      throw new IllegalArgumentException(
          "padding of %s to %d: give a ragged field, and a length of at least 1, or 0 for the longest row"
              .formatted(field, length));
    }
  }

  @Override
  public long bytes(long inBytes) {
    return Math.max(inBytes, (long) length * field.bytes());
  }

  @Override
  public Tensor apply(Tensor in, Slot slot, GrowingBuffer memory) {
    Tensor offsets = slot.read().offsets(field.name());
    int rows = Math.toIntExact(offsets.rows() - 1);
    long longest = 0;
    for (int row = 0; row < rows; row++) {
      longest = Math.max(longest, offsets.getLong(row + 1L) - offsets.getLong(row));
    }
    if (length > 0 && longest > length) {
      throw new IllegalArgumentException(
          "a row of %s has length %,d, above the padded length %,d: raise the length of pad"
              .formatted(field, longest, length));
    }
    long padded = length > 0 ? length : longest;
    long rowBytes = padded * field.bytes();
    if (rowBytes * rows > GrowingBuffer.MAX_BYTES) {
      throw new IllegalArgumentException(
          "%,d rows of %s padded to %,d have %,d bytes; a tensor has at most %,d: read fewer rows per batch"
              .formatted(rows, field, padded, rowBytes * rows, GrowingBuffer.MAX_BYTES));
    }
    ByteBuffer source = in.asByteBuffer();
    ByteBuffer target = memory.ensure(rowBytes * rows);
    for (int row = 0; row < rows; row++) {
      int from = (int) offsets.getLong(row) * field.bytes();
      int bytes = (int) offsets.getLong(row + 1L) * field.bytes() - from;
      int at = (int) (row * rowBytes);
      target.put(at, source, from, bytes);
      Zeros.fill(target, at + bytes, (int) rowBytes - bytes);
    }
    return Tensor.wrap(
        field.dtype(), target.slice(0, (int) (rowBytes * rows)), shape(rows, padded));
  }

  private long[] shape(long rows, long padded) {
    int[] inner = field.shape();
    long[] shape = new long[inner.length + 2];
    shape[0] = rows;
    shape[1] = padded;
    for (int d = 0; d < inner.length; d++) {
      shape[d + 2] = inner[d];
    }
    return shape;
  }
}
