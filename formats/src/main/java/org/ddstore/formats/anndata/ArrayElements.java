// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.nio.ByteBuffer;
import org.ddstore.formats.ElementType;

/** Single elements of 1, 2, 4 or 8 bytes in buffers of the same byte order. */
final class ArrayElements {
  private ArrayElements() {}

  static void copy(ByteBuffer from, int fromIndex, ByteBuffer to, int toIndex, int bytes) {
    switch (bytes) {
      case 1 -> to.put(toIndex, from.get(fromIndex));
      case 2 -> to.putShort(2 * toIndex, from.getShort(2 * fromIndex));
      case 4 -> to.putInt(4 * toIndex, from.getInt(4 * fromIndex));
      default -> to.putLong(8 * toIndex, from.getLong(8 * fromIndex));
    }
  }

  /** Returns whether an element is 0, or the -0 of floating point numbers. */
  static boolean isZero(ByteBuffer from, int index, ElementType type) {
    long bits =
        switch (type.bytes()) {
          case 1 -> from.get(index);
          case 2 -> from.getShort(2 * index);
          case 4 -> from.getInt(4 * index);
          default -> from.getLong(8 * index);
        };
    return switch (type) {
      case FLOAT16 -> (bits & Short.MAX_VALUE) == 0;
      case FLOAT32 -> (bits & Integer.MAX_VALUE) == 0;
      case FLOAT64 -> (bits & Long.MAX_VALUE) == 0;
      default -> bits == 0;
    };
  }
}
