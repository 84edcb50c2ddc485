// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

/**
 * The regular grid of an array and the keys of its chunks. The chunks at the upper edges are as
 * large as all others.
 *
 * @param shape shape of the array
 * @param chunk shape of a chunk
 * @param prefix begin of all keys
 * @param separator character between the coordinates
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ChunkGrid(long[] shape, int[] chunk, String prefix, String separator) {
  /**
   * Checks the lengths.
   *
   * @throws Unsupported if the array or a chunk has more elements than can be counted
   */
  static ChunkGrid of(long[] shape, long[] chunk, String prefix, String separator)
      throws Unsupported {
    if (shape.length != chunk.length) {
      throw new Unsupported(
          "chunks", "%d dimensions, but the shape has %d".formatted(chunk.length, shape.length));
    }
    int[] lengths = new int[chunk.length];
    long all = 1;
    long inChunk = 1;
    try {
      for (int d = 0; d < shape.length; d++) {
        if (shape[d] < 0 || chunk[d] < 1) {
          throw new Unsupported(
              "chunks", "chunk length %d of axis length %d".formatted(chunk[d], shape[d]));
        }
        lengths[d] = Math.toIntExact(chunk[d]);
        inChunk = Math.multiplyExact(inChunk, chunk[d]);
        all = Math.multiplyExact(all, Math.max(1, shape[d]));
      }
      Math.toIntExact(inChunk);
    } catch (ArithmeticException e) {
      throw new Unsupported(
          "chunks", "a chunk has more than 2^31 elements, or the array more than 2^63");
    }
    return new ChunkGrid(shape, lengths, prefix, separator);
  }

  int dimensions() {
    return shape.length;
  }

  /** Returns the number of chunks along an axis, at least 1. */
  long chunks(int axis) {
    return Math.max(1, (shape[axis] + chunk[axis] - 1) / chunk[axis]);
  }

  /** Returns the number of a chunk in C order. */
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
}
