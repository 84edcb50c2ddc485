// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * The regular grid of an array and the keys of its chunks. The chunks at the upper edges are as
 * large as all others.
 *
 * @param shape shape of the array, of fewer than 2^63 elements
 * @param chunk shape of a chunk, of fewer than 2^63 elements
 * @param prefix begin of all keys
 * @param separator character between the coordinates
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ChunkGrid(long[] shape, long[] chunk, String prefix, String separator) {
  /** The limit of NumPy 2. */
  private static final int MAX_DIMENSIONS = 64;

  /** Checks the lengths. */
  static ChunkGrid of(long[] shape, long[] chunk, String prefix, String separator)
      throws Unsupported {
    if (shape.length > MAX_DIMENSIONS) {
      throw new Unsupported(
          "shape",
          "%,d dimensions, more than the limit of %d".formatted(shape.length, MAX_DIMENSIONS));
    }
    if (shape.length != chunk.length) {
      throw new Unsupported(
          "chunks", "%d dimensions, but the shape has %d".formatted(chunk.length, shape.length));
    }
    long all = 1;
    long inChunk = 1;
    try {
      for (int d = 0; d < shape.length; d++) {
        if (shape[d] < 0 || chunk[d] < 1) {
          throw new Unsupported(
              "chunks", "chunk length %d of axis length %d".formatted(chunk[d], shape[d]));
        }
        all = Math.multiplyExact(all, Math.max(1, shape[d]));
        inChunk = Math.multiplyExact(inChunk, chunk[d]);
      }
    } catch (ArithmeticException e) {
      throw new Unsupported(
          "shape",
          "%s in chunks of %s: the array or a chunk has 2^63 elements or more"
              .formatted(Arrays.toString(shape), Arrays.toString(chunk)));
    }
    return new ChunkGrid(shape, chunk, prefix, separator);
  }

  int dimensions() {
    return shape.length;
  }

  boolean isEmpty() {
    return Arrays.stream(shape).anyMatch(length -> length == 0);
  }

  /** Returns the number of chunks along an axis, at least 1. */
  long chunks(int axis) {
    return shape[axis] == 0 ? 1 : (shape[axis] - 1) / chunk[axis] + 1;
  }

  long number(long... coordinates) {
    long number = 0;
    for (int d = 0; d < coordinates.length; d++) {
      number = number * chunks(d) + coordinates[d];
    }
    return number;
  }

  /** Returns the path of a chunk relative to the array. */
  String key(long... coordinates) {
    StringBuilder key = new StringBuilder(prefix);
    for (long coordinate : coordinates) {
      if (key.length() > 0) {
        key.append(separator);
      }
      key.append(coordinate);
    }
    return key.isEmpty() ? "0" : key.toString(); // an array without axes
  }

  /** Returns whether a path relative to the array is the key of one of its chunks. */
  boolean isKey(String path) {
    long[] coordinates = new long[shape.length];
    if (shape.length > 0) {
      String numbers = path;
      if (!prefix.isEmpty()) {
        if (!path.startsWith(prefix + separator)) {
          return false;
        }
        numbers = path.substring(prefix.length() + separator.length());
      }
      String[] parts = numbers.split(Pattern.quote(separator), -1);
      if (parts.length != shape.length) {
        return false;
      }
      for (int d = 0; d < parts.length; d++) {
        if (!parts[d].matches("\\d{1,18}")) {
          return false;
        }
        coordinates[d] = Long.parseLong(parts[d]);
        if (coordinates[d] >= chunks(d)) {
          return false;
        }
      }
    }
    return path.equals(key(coordinates));
  }
}
