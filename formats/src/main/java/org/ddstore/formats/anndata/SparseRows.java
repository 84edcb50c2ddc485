// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.formats.ElementType;

/**
 * Rows of a matrix that hold the genes whose values are stored.
 *
 * @param offsets index of the first value of each row, and the number of values at the end
 * @param genes gene of each value
 * @param values values in the order of the buffer
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record SparseRows(int[] offsets, int[] genes, ByteBuffer values) {
  int rows() {
    return offsets.length - 1;
  }

  /** Returns the rows in the genes of the data set, ascending in each row. */
  SparseRows mapped(GeneMap map, int bytes) {
    if (map.isIdentity()) {
      return this;
    }
    int kept = 0;
    for (int gene : genes) {
      kept += map.of(gene) >= 0 ? 1 : 0;
    }
    int[] newOffsets = new int[offsets.length];
    int[] newGenes = new int[kept];
    ByteBuffer newValues = ByteBuffer.allocate(kept * bytes).order(values.order());
    int next = 0;
    for (int row = 0; row < rows(); row++) {
      // Gene and position in one number: sorted by gene, in the order of the file for equal ones.
      long[] keys = new long[offsets[row + 1] - offsets[row]];
      int count = 0;
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        int gene = map.of(genes[i]);
        if (gene >= 0) {
          keys[count++] = ((long) gene << Integer.SIZE) | i;
        }
      }
      Arrays.sort(keys, 0, count);
      for (int k = 0; k < count; k++) {
        newGenes[next] = (int) (keys[k] >>> Integer.SIZE);
        copy(values, (int) keys[k], newValues, next, bytes);
        next++;
      }
      newOffsets[row + 1] = next;
    }
    return new SparseRows(newOffsets, newGenes, newValues);
  }

  /** Returns the rows with a value for every gene, 0 for those that are not stored. */
  ByteBuffer dense(int width, int bytes) {
    int size = Math.toIntExact((long) rows() * width * bytes);
    ByteBuffer dense = ByteBuffer.allocate(size).order(values.order());
    for (int row = 0; row < rows(); row++) {
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        copy(values, i, dense, row * width + genes[i], bytes);
      }
    }
    return dense;
  }

  /** Returns dense rows without the values that are 0. */
  static SparseRows of(ByteBuffer dense, int rows, int width, ElementType type) {
    int bytes = type.bytes();
    int[] offsets = new int[rows + 1];
    int stored = 0;
    for (int i = 0; i < rows * width; i++) {
      stored += isZero(dense, i, type) ? 0 : 1;
    }
    int[] genes = new int[stored];
    ByteBuffer values = ByteBuffer.allocate(stored * bytes).order(dense.order());
    int next = 0;
    for (int row = 0; row < rows; row++) {
      for (int gene = 0; gene < width; gene++) {
        if (!isZero(dense, row * width + gene, type)) {
          genes[next] = gene;
          copy(dense, row * width + gene, values, next, bytes);
          next++;
        }
      }
      offsets[row + 1] = next;
    }
    return new SparseRows(offsets, genes, values);
  }

  /** Returns dense rows in the genes of the data set, 0 for those that the file does not have. */
  static ByteBuffer mapped(ByteBuffer dense, int rows, int width, GeneMap map, int bytes) {
    if (map.isIdentity()) {
      return dense;
    }
    int size = Math.toIntExact((long) rows * map.width() * bytes);
    ByteBuffer mapped = ByteBuffer.allocate(size).order(dense.order());
    for (int row = 0; row < rows; row++) {
      for (int gene = 0; gene < width; gene++) {
        int place = map.of(gene);
        if (place >= 0) {
          copy(dense, row * width + gene, mapped, row * map.width() + place, bytes);
        }
      }
    }
    return mapped;
  }

  private static void copy(ByteBuffer from, int fromIndex, ByteBuffer to, int toIndex, int bytes) {
    switch (bytes) {
      case 1 -> to.put(toIndex, from.get(fromIndex));
      case 2 -> to.putShort(2 * toIndex, from.getShort(2 * fromIndex));
      case 4 -> to.putInt(4 * toIndex, from.getInt(4 * fromIndex));
      default -> to.putLong(8 * toIndex, from.getLong(8 * fromIndex));
    }
  }

  /** Returns whether an element is 0, or the -0 of floating point numbers. */
  private static boolean isZero(ByteBuffer from, int index, ElementType type) {
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
