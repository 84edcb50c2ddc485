// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;

/**
 * The elements of one rank that a {@link Reduction} combines with those of the others. The loops
 * over elements are of one primitive type each, so that the JIT compiler vectorises them.
 *
 * @param write copies elements [from, from + count) into a piece
 * @param read replaces elements by those of a piece
 * @param join combines elements of a piece into the elements
 * @param settle sets all NaNs to one value, because processors choose among the operands' NaNs
 */
record Elements(
    int length, int elementBytes, Transfer write, Transfer read, Transfer join, Range settle) {
  private static final int BLOCK = 2048;

  interface Transfer {
    void run(ByteBuffer piece, int from, int count);
  }

  interface Range {
    void run(int from, int count);
  }

  long bytes() {
    return (long) length * elementBytes;
  }

  /** Returns the rest of a piece from an element on. */
  static ByteBuffer at(ByteBuffer piece, int element, int elementBytes) {
    int bytes = element * elementBytes;
    return piece.slice(bytes, piece.capacity() - bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static Elements of(float[] array, ReduceOp op) {
    float[] other = new float[Math.min(array.length, Lane.SLOT_BYTES / Float.BYTES)];
    return new Elements(
        array.length,
        Float.BYTES,
        (piece, from, count) -> piece.asFloatBuffer().put(array, from, count),
        (piece, from, count) -> piece.asFloatBuffer().get(array, from, count),
        (piece, from, count) -> {
          piece.asFloatBuffer().get(other, 0, count);
          join(array, from, other, count, op);
        },
        (from, count) -> {
          for (int i = from; i < from + count; i++) {
            if (Float.isNaN(array[i])) {
              array[i] = Float.NaN;
            }
          }
        });
  }

  static Elements of(double[] array, ReduceOp op) {
    double[] other = new double[Math.min(array.length, Lane.SLOT_BYTES / Double.BYTES)];
    return new Elements(
        array.length,
        Double.BYTES,
        (piece, from, count) -> piece.asDoubleBuffer().put(array, from, count),
        (piece, from, count) -> piece.asDoubleBuffer().get(array, from, count),
        (piece, from, count) -> {
          piece.asDoubleBuffer().get(other, 0, count);
          join(array, from, other, count, op);
        },
        (from, count) -> {
          for (int i = from; i < from + count; i++) {
            if (Double.isNaN(array[i])) {
              array[i] = Double.NaN;
            }
          }
        });
  }

  static Elements of(long[] array, ReduceOp op) {
    long[] other = new long[Math.min(array.length, Lane.SLOT_BYTES / Long.BYTES)];
    return new Elements(
        array.length,
        Long.BYTES,
        (piece, from, count) -> piece.asLongBuffer().put(array, from, count),
        (piece, from, count) -> piece.asLongBuffer().get(array, from, count),
        (piece, from, count) -> {
          piece.asLongBuffer().get(other, 0, count);
          join(array, from, other, count, op);
        },
        (from, count) -> {});
  }

  /**
   * Returns elements in direct memory. They are combined in an array, in blocks that fit the cache,
   * because the JIT compiler vectorises loops over arrays only.
   *
   * @param inPlace direct, writable buffer; the elements between position and limit are reduced
   */
  static Elements of(FloatBuffer inPlace, ReduceOp op) {
    FloatBuffer memory = checked(inPlace).slice();
    float[] array = new float[Math.min(BLOCK, memory.capacity())];
    return inBlocks(
        memory,
        of(array, op),
        (piece, from, count) -> piece.asFloatBuffer().put(0, memory, from, count),
        (piece, from, count) -> memory.put(from, piece.asFloatBuffer(), 0, count),
        (from, count) -> memory.get(from, array, 0, count),
        (from, count) -> memory.put(from, array, 0, count));
  }

  static Elements of(DoubleBuffer inPlace, ReduceOp op) {
    DoubleBuffer memory = checked(inPlace).slice();
    double[] array = new double[Math.min(BLOCK, memory.capacity())];
    return inBlocks(
        memory,
        of(array, op),
        (piece, from, count) -> piece.asDoubleBuffer().put(0, memory, from, count),
        (piece, from, count) -> memory.put(from, piece.asDoubleBuffer(), 0, count),
        (from, count) -> memory.get(from, array, 0, count),
        (from, count) -> memory.put(from, array, 0, count));
  }

  /**
   * @param load copies elements of the memory to the start of the array of {@code block}
   * @param store copies elements from there to the memory
   */
  private static Elements inBlocks(
      Buffer memory, Elements block, Transfer write, Transfer read, Range load, Range store) {
    int elementBytes = block.elementBytes;
    return new Elements(
        memory.capacity(),
        elementBytes,
        write,
        read,
        (piece, from, count) -> {
          for (int done = 0; done < count; done += BLOCK) {
            int size = Math.min(BLOCK, count - done);
            load.run(from + done, size);
            block.join.run(at(piece, done, elementBytes), 0, size);
            store.run(from + done, size);
          }
        },
        (from, count) -> {
          for (int done = 0; done < count; done += BLOCK) {
            int size = Math.min(BLOCK, count - done);
            load.run(from + done, size);
            block.settle.run(0, size);
            store.run(from + done, size);
          }
        });
  }

  private static <T extends Buffer> T checked(T buffer) {
    if (!buffer.isDirect() || buffer.isReadOnly()) {
      throw new IllegalArgumentException(
          "inPlace is %s: pass a writable view of a direct buffer, or an array"
              .formatted(buffer.isDirect() ? "read-only" : "a heap buffer"));
    }
    return buffer;
  }

  private static void join(float[] array, int from, float[] other, int count, ReduceOp op) {
    switch (op) {
      case SUM -> {
        for (int i = 0; i < count; i++) {
          array[from + i] += other[i];
        }
      }
      case MIN -> {
        for (int i = 0; i < count; i++) {
          array[from + i] = Math.min(array[from + i], other[i]);
        }
      }
      case MAX -> {
        for (int i = 0; i < count; i++) {
          array[from + i] = Math.max(array[from + i], other[i]);
        }
      }
    }
  }

  private static void join(double[] array, int from, double[] other, int count, ReduceOp op) {
    switch (op) {
      case SUM -> {
        for (int i = 0; i < count; i++) {
          array[from + i] += other[i];
        }
      }
      case MIN -> {
        for (int i = 0; i < count; i++) {
          array[from + i] = Math.min(array[from + i], other[i]);
        }
      }
      case MAX -> {
        for (int i = 0; i < count; i++) {
          array[from + i] = Math.max(array[from + i], other[i]);
        }
      }
    }
  }

  private static void join(long[] array, int from, long[] other, int count, ReduceOp op) {
    switch (op) {
      case SUM -> {
        for (int i = 0; i < count; i++) {
          array[from + i] += other[i];
        }
      }
      case MIN -> {
        for (int i = 0; i < count; i++) {
          array[from + i] = Math.min(array[from + i], other[i]);
        }
      }
      case MAX -> {
        for (int i = 0; i < count; i++) {
          array[from + i] = Math.max(array[from + i], other[i]);
        }
      }
    }
  }
}
