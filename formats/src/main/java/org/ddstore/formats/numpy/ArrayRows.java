// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.Values;

/** Rows of an array in a file: slices of the first axis. */
final class ArrayRows {
  private final NpyHeader header;
  private final SampleColumn column;
  private final NpyHeader.Bytes bytes;
  private final int width;
  private ByteBuffer buffer;

  ArrayRows(NpyHeader header, SampleColumn column, NpyHeader.Bytes bytes) {
    this.header = header;
    this.column = column;
    this.bytes = bytes;
    this.width = column.elements();
  }

  Values read(long from, int count) throws IOException {
    ByteBuffer elements = room(Math.multiplyExact(count, width * size()));
    if (header.fortran()) {
      readColumns(from, count, elements);
    } else {
      bytes.read(header.dataOffset() + from * width * size(), elements);
      elements.flip();
    }
    elements.order(header.order());
    return column.values(elements, count);
  }

  /** Returns the buffer of the last read, if it is large enough. */
  private ByteBuffer room(int size) {
    if (buffer == null || buffer.capacity() < size) {
      buffer = ByteBuffer.allocate(size);
    }
    return buffer.clear().limit(size);
  }

  private int size() {
    return column.type().bytes();
  }

  /**
   * Reads rows of an array in Fortran order: the elements at one place of all rows are side by
   * side, those of different places as far apart as the array has rows. Complex numbers stay
   * together.
   */
  private void readColumns(long from, int count, ByteBuffer rows) throws IOException {
    int unit = size() * header.unitElements();
    int places = width / header.unitElements();
    long[] shape = header.shape();
    int dimensions = shape.length - (header.unitElements() > 1 ? 1 : 0);
    ByteBuffer side = ByteBuffer.allocate(count * unit);
    for (int place = 0; place < places; place++) {
      side.clear();
      bytes.read(
          header.dataOffset() + (fortranPlace(place, shape, dimensions) * shape[0] + from) * unit,
          side);
      for (int row = 0; row < count; row++) {
        rows.put((row * places + place) * unit, side, row * unit, unit);
      }
    }
  }

  /** Returns the number in Fortran order of the place inside a row that has a number in C order. */
  private static long fortranPlace(int place, long[] shape, int dimensions) {
    long result = 0;
    long left = place;
    // The last index varies fastest in C order; in Fortran order its stride is the product of those
    // before.
    long[] index = new long[dimensions];
    for (int d = dimensions - 1; d >= 1; d--) {
      index[d] = left % shape[d];
      left /= shape[d];
    }
    long stride = 1;
    for (int d = 1; d < dimensions; d++) {
      result += index[d] * stride;
      stride *= shape[d];
    }
    return result;
  }
}
