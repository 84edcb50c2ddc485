// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;

/**
 * A {@link Reduction} of elements in direct memory. Combines blocks that fit the cache in arrays,
 * because the JIT compiler vectorises loops over arrays only.
 */
abstract class DirectReduction extends Reduction {
  private static final int BLOCK = 2048;

  private final Reduction block;

  /**
   * @param block reduction of the array of a block
   */
  private DirectReduction(int length, int elementBytes, Reduction block) {
    super(length, elementBytes);
    this.block = block;
  }

  /**
   * Returns the reduction of a buffer.
   *
   * @param inPlace direct, writable buffer; the elements between position and limit are reduced
   */
  static DirectReduction of(FloatBuffer inPlace, ReduceOp op) {
    FloatBuffer buffer = checked(inPlace).slice();
    float[] array = new float[Math.min(BLOCK, buffer.capacity())];
    return new DirectReduction(buffer.capacity(), Float.BYTES, new FloatReduction(array, op)) {
      @Override
      void write(ByteBuffer piece, int from, int count) {
        piece.asFloatBuffer().put(0, buffer, from, count);
      }

      @Override
      void read(ByteBuffer piece, int from, int count) {
        buffer.put(from, piece.asFloatBuffer(), 0, count);
      }

      @Override
      void load(int from, int count) {
        buffer.get(from, array, 0, count);
      }

      @Override
      void store(int from, int count) {
        buffer.put(from, array, 0, count);
      }
    };
  }

  /** Returns the reduction of a buffer as {@link #of(FloatBuffer, ReduceOp)}. */
  static DirectReduction of(DoubleBuffer inPlace, ReduceOp op) {
    DoubleBuffer buffer = checked(inPlace).slice();
    double[] array = new double[Math.min(BLOCK, buffer.capacity())];
    return new DirectReduction(buffer.capacity(), Double.BYTES, new DoubleReduction(array, op)) {
      @Override
      void write(ByteBuffer piece, int from, int count) {
        piece.asDoubleBuffer().put(0, buffer, from, count);
      }

      @Override
      void read(ByteBuffer piece, int from, int count) {
        buffer.put(from, piece.asDoubleBuffer(), 0, count);
      }

      @Override
      void load(int from, int count) {
        buffer.get(from, array, 0, count);
      }

      @Override
      void store(int from, int count) {
        buffer.put(from, array, 0, count);
      }
    };
  }

  private static <T extends Buffer> T checked(T buffer) {
    if (!buffer.isDirect() || buffer.isReadOnly()) {
      throw new IllegalArgumentException(
          "inPlace is %s: pass a writable view of a direct buffer, or an array"
              .formatted(buffer.isDirect() ? "read-only" : "a heap buffer"));
    }
    return buffer;
  }

  /** Copies elements [from, from + count) of the direct memory to the start of the array. */
  abstract void load(int from, int count);

  /** Replaces elements of the direct memory by those at the start of the array. */
  abstract void store(int from, int count);

  @Override
  final void join(ByteBuffer piece, int from, int count) {
    for (int done = 0; done < count; done += BLOCK) {
      int size = Math.min(BLOCK, count - done);
      load(from + done, size);
      block.join(at(piece, done), 0, size);
      store(from + done, size);
    }
  }

  @Override
  final void settle(int from, int count) {
    for (int done = 0; done < count; done += BLOCK) {
      int size = Math.min(BLOCK, count - done);
      load(from + done, size);
      block.settle(0, size);
      store(from + done, size);
    }
  }
}
