// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.formats.ElementType;

/** Integers of any width in a file, such as offsets and indices of sparse rows. */
final class Integers {
  private Integers() {}

  /** Checks that an array is a list of integers. */
  static void require(StoredArray array) {
    ElementType type = array.type();
    if (type == ElementType.TEXT
        || type == ElementType.BOOL
        || type == ElementType.FLOAT16
        || type == ElementType.FLOAT32
        || type == ElementType.FLOAT64
        || array.shape().length != 1) {
      throw array.problem("is %s, not a list of integers".formatted(type));
    }
  }

  static long[] longs(StoredArray array, long from, int count) throws IOException {
    ByteBuffer bytes = array.bytes(from, count);
    Object decoded = array.type().decode(bytes, count);
    if (decoded instanceof long[] longs) {
      return longs;
    }
    if (decoded instanceof int[] ints) {
      return Arrays.stream(ints).asLongStream().toArray();
    }
    long[] longs = new long[count];
    for (int i = 0; i < count; i++) {
      longs[i] = Array.getLong(decoded, i);
    }
    return longs;
  }

  /** Reads integers, which must be in the range [min, end). */
  static int[] ints(StoredArray array, long from, int count, int min, int end) throws IOException {
    if (count == 0) {
      return new int[0];
    }
    if (array.type() == ElementType.INT32) {
      int[] ints = (int[]) array.type().decode(array.bytes(from, count), count);
      for (int i = 0; i < count; i++) {
        check(array, ints[i], min, end);
      }
      return ints;
    }
    long[] longs = longs(array, from, count);
    int[] ints = new int[count];
    for (int i = 0; i < count; i++) {
      check(array, longs[i], min, end);
      ints[i] = (int) longs[i];
    }
    return ints;
  }

  private static void check(StoredArray array, long value, int min, int end) {
    if (value < min || value >= end) {
      throw array.problem(
          "value %,d is outside [%,d, %,d): the file is damaged".formatted(value, min, end));
    }
  }
}
