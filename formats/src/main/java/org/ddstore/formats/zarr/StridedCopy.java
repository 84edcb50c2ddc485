// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A copy of a box of elements between two arrays of any strides. Both are buffers of numbers with
 * the same byte order, or both are a {@code String[]}. Offsets and strides count elements.
 */
final class StridedCopy {
  private final int[] shape;
  private final int[] fromStrides;
  private final int[] toStrides;
  private final int dimensions;

  /** Creates a copy; neighbouring axes that both sides store without a gap become one. */
  StridedCopy(int[] shape, int[] fromStrides, int[] toStrides) {
    int[] lengths = new int[shape.length + 1];
    int[] from = new int[shape.length + 1];
    int[] to = new int[shape.length + 1];
    int last = -1;
    for (int d = 0; d < shape.length; d++) {
      if (shape[d] == 1) {
        continue;
      }
      boolean joins =
          last >= 0
              && from[last] == fromStrides[d] * shape[d]
              && to[last] == toStrides[d] * shape[d];
      if (joins) {
        lengths[last] *= shape[d];
      } else {
        lengths[++last] = shape[d];
      }
      from[last] = fromStrides[d];
      to[last] = toStrides[d];
    }
    if (last < 0) { // one element
      last = 0;
      lengths[0] = 1;
      from[0] = 1;
      to[0] = 1;
    }
    this.dimensions = last + 1;
    this.shape = lengths;
    this.fromStrides = from;
    this.toStrides = to;
  }

  /** Copies the elements, of {@code unit} bytes if they are numbers. */
  void copy(Object from, int fromOffset, Object to, int toOffset, int unit) {
    int[] index = new int[dimensions];
    int inner = dimensions - 1;
    int source = fromOffset;
    int target = toOffset;
    while (true) {
      copyInner(from, source, to, target, unit);
      int d = inner - 1;
      while (d >= 0 && ++index[d] == shape[d]) {
        source -= (shape[d] - 1) * fromStrides[d];
        target -= (shape[d] - 1) * toStrides[d];
        index[d] = 0;
        d--;
      }
      if (d < 0) {
        return;
      }
      source += fromStrides[d];
      target += toStrides[d];
    }
  }

  private void copyInner(Object from, int source, Object to, int target, int unit) {
    int count = shape[dimensions - 1];
    int fromStep = fromStrides[dimensions - 1];
    int toStep = toStrides[dimensions - 1];
    if (from instanceof String[] texts) {
      copyTexts(texts, source, fromStep, (String[]) to, target, toStep, count);
    } else if (fromStep == 1 && toStep == 1) {
      ((ByteBuffer) to).put(target * unit, (ByteBuffer) from, source * unit, count * unit);
    } else {
      copyNumbers(
          (ByteBuffer) from, source, fromStep, (ByteBuffer) to, target, toStep, count, unit);
    }
  }

  private static void copyTexts(
      String[] from, int source, int fromStep, String[] to, int target, int toStep, int count) {
    if (fromStep == 0 && toStep == 1) {
      Arrays.fill(to, target, target + count, from[source]);
      return;
    }
    for (int i = 0; i < count; i++) {
      to[target + i * toStep] = from[source + i * fromStep];
    }
  }

  private static void copyNumbers(
      ByteBuffer from,
      int source,
      int fromStep,
      ByteBuffer to,
      int target,
      int toStep,
      int count,
      int unit) {
    int read = source * unit;
    int write = target * unit;
    for (int i = 0; i < count; i++) {
      switch (unit) {
        case 1 -> to.put(write, from.get(read));
        case 2 -> to.putShort(write, from.getShort(read));
        case 4 -> to.putInt(write, from.getInt(read));
        default -> to.putLong(write, from.getLong(read));
      }
      read += fromStep * unit;
      write += toStep * unit;
    }
  }

  /** Returns the strides of an array of a shape in C order. */
  static int[] rowMajor(int... shape) {
    int[] strides = new int[shape.length];
    int stride = 1;
    for (int d = shape.length - 1; d >= 0; d--) {
      strides[d] = stride;
      stride = Math.multiplyExact(stride, Math.max(1, shape[d]));
    }
    return strides;
  }
}
