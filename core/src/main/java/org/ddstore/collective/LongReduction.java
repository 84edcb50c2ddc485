// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;

/** A {@link Reduction} of {@code long} arrays. */
final class LongReduction extends Reduction {
  private final long[] array;
  private final long[] other;
  private final ReduceOp op;

  LongReduction(long[] array, ReduceOp op) {
    super(array.length, Long.BYTES);
    this.array = array;
    this.other = new long[pieceElements(array.length, Long.BYTES)];
    this.op = op;
  }

  @Override
  void write(ByteBuffer piece, int from, int count) {
    piece.asLongBuffer().put(array, from, count);
  }

  @Override
  void read(ByteBuffer piece, int from, int count) {
    piece.asLongBuffer().get(array, from, count);
  }

  @Override
  void join(ByteBuffer piece, int from, int count) {
    piece.asLongBuffer().get(other, 0, count);
    switch (op) {
      case SUM -> sum(array, from, other, count);
      case MIN -> min(array, from, other, count);
      case MAX -> max(array, from, other, count);
    }
  }

  @Override
  void settle(int from, int count) {}

  private static void sum(long[] array, int from, long[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] += other[i];
    }
  }

  private static void min(long[] array, int from, long[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] = Math.min(array[from + i], other[i]);
    }
  }

  private static void max(long[] array, int from, long[] other, int count) {
    for (int i = 0; i < count; i++) {
      array[from + i] = Math.max(array[from + i], other[i]);
    }
  }
}
