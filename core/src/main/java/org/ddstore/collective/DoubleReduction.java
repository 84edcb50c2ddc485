// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;

/** A {@link Reduction} of {@code double} arrays. */
final class DoubleReduction extends Reduction {
  private final double[] array;
  private final double[] other;
  private final ReduceOp op;

  DoubleReduction(double[] array, ReduceOp op) {
    super(array.length, Double.BYTES);
    this.array = array;
    this.other = new double[pieceElements(array.length, Double.BYTES)];
    this.op = op;
  }

  @Override
  void write(ByteBuffer piece, int from, int count) {
    piece.asDoubleBuffer().put(array, from, count);
  }

  @Override
  void read(ByteBuffer piece, int from, int count) {
    piece.asDoubleBuffer().get(array, from, count);
  }

  @Override
  void join(ByteBuffer piece, int from, int count) {
    piece.asDoubleBuffer().get(other, 0, count);
    switch (op) {
      case SUM -> sum(array, from, other, count);
      case MIN -> min(array, from, other, count);
      case MAX -> max(array, from, other, count);
    }
  }

  @Override
  void settle(int from, int count) {
    for (int i = from; i < from + count; i++) {
      if (Double.isNaN(array[i])) {
        array[i] = Double.NaN;
      }
    }
  }

  private static void sum(double[] array, int from, double[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] += other[i];
    }
  }

  private static void min(double[] array, int from, double[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] = Math.min(array[from + i], other[i]);
    }
  }

  private static void max(double[] array, int from, double[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] = Math.max(array[from + i], other[i]);
    }
  }
}
