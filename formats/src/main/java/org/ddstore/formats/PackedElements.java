// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Elements of Java arrays as bytes. */
final class PackedElements {
  private PackedElements() {}

  /**
   * Returns the first elements of an array side by side, little-endian, a boolean as 0 or 1.
   *
   * @param array array of numbers or booleans
   * @return null for other arrays
   */
  static ByteBuffer of(Object array, int count) {
    if (array instanceof byte[] bytes) {
      return ByteBuffer.wrap(bytes, 0, count);
    } else if (array instanceof boolean[] truths) {
      byte[] bytes = new byte[count];
      for (int i = 0; i < count; i++) {
        bytes[i] = (byte) (truths[i] ? 1 : 0);
      }
      return ByteBuffer.wrap(bytes);
    } else if (array instanceof short[] numbers) {
      ByteBuffer to = allocate(count, Short.BYTES);
      to.asShortBuffer().put(numbers, 0, count);
      return to;
    } else if (array instanceof int[] numbers) {
      ByteBuffer to = allocate(count, Integer.BYTES);
      to.asIntBuffer().put(numbers, 0, count);
      return to;
    } else if (array instanceof long[] numbers) {
      ByteBuffer to = allocate(count, Long.BYTES);
      to.asLongBuffer().put(numbers, 0, count);
      return to;
    } else if (array instanceof float[] numbers) {
      ByteBuffer to = allocate(count, Float.BYTES);
      to.asFloatBuffer().put(numbers, 0, count);
      return to;
    } else if (array instanceof double[] numbers) {
      ByteBuffer to = allocate(count, Double.BYTES);
      to.asDoubleBuffer().put(numbers, 0, count);
      return to;
    }
    return null;
  }

  private static ByteBuffer allocate(int count, int bytes) {
    return ByteBuffer.allocate(Math.multiplyExact(count, bytes)).order(ByteOrder.LITTLE_ENDIAN);
  }
}
