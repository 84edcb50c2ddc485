// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;

/** A {@link Reduction} of {@code float} arrays. */
final class FloatReduction extends Reduction {
  private final float[] array;
  private final float[] other;
  private final ReduceOp op;

  FloatReduction(float[] array, ReduceOp op) {
    super(array.length, Float.BYTES);
    this.array = array;
    this.other = new float[pieceElements(array.length, Float.BYTES)];
    this.op = op;
  }

  @Override
  void write(ByteBuffer piece, int from, int count) {
    piece.asFloatBuffer().put(array, from, count);
  }

  @Override
  void read(ByteBuffer piece, int from, int count) {
    piece.asFloatBuffer().get(array, from, count);
  }

  @Override
  void join(ByteBuffer piece, int from, int count) {
    piece.asFloatBuffer().get(other, 0, count);
    switch (op) {
      case SUM -> sum(array, from, other, count);
      case MIN -> min(array, from, other, count);
      case MAX -> max(array, from, other, count);
    }
  }

  @Override
  void settle(int from, int count) {
    for (int i = from; i < from + count; i++) {
      if (Float.isNaN(array[i])) {
        array[i] = Float.NaN;
      }
    }
  }

  private static void sum(float[] array, int from, float[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] += other[i];
    }
  }

  private static void min(float[] array, int from, float[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] = Math.min(array[from + i], other[i]);
    }
  }

  private static void max(float[] array, int from, float[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] = Math.max(array[from + i], other[i]);
    }
  }
}
