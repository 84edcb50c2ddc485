// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * A {@link Reduction} of {@code float} elements in direct memory. Combines blocks that fit the
 * cache in arrays, because the JIT compiler vectorises loops over arrays only.
 */
final class DirectFloatReduction extends Reduction {
  private static final int BLOCK = 2048;

  private final FloatBuffer buffer;
  private final float[] mine;
  private final float[] other;
  private final ReduceOp op;

  /**
   * @param inPlace direct, writable buffer; the elements between position and limit are reduced
   */
  DirectFloatReduction(FloatBuffer inPlace, ReduceOp op) {
    super(checked(inPlace).remaining(), Float.BYTES);
    this.buffer = inPlace.slice();
    this.mine = new float[Math.min(BLOCK, buffer.capacity())];
    this.other = new float[mine.length];
    this.op = op;
  }

  private static FloatBuffer checked(FloatBuffer buffer) {
    if (!buffer.isDirect() || buffer.isReadOnly()) {
      throw new IllegalArgumentException(
          "inPlace is %s: pass a writable view of a direct buffer, or an array"
              .formatted(buffer.isDirect() ? "read-only" : "a heap buffer"));
    }
    return buffer;
  }

  @Override
  void write(ByteBuffer piece, int from, int count) {
    piece.asFloatBuffer().put(0, buffer, from, count);
  }

  @Override
  void read(ByteBuffer piece, int from, int count) {
    buffer.put(from, piece.asFloatBuffer(), 0, count);
  }

  @Override
  void join(ByteBuffer piece, int from, int count) {
    FloatBuffer others = piece.asFloatBuffer();
    for (int done = 0; done < count; done += BLOCK) {
      int block = Math.min(BLOCK, count - done);
      buffer.get(from + done, mine, 0, block);
      others.get(done, other, 0, block);
      FloatReduction.combine(op, mine, 0, other, block);
      buffer.put(from + done, mine, 0, block);
    }
  }

  @Override
  void settle(int from, int count) {
    for (int done = 0; done < count; done += BLOCK) {
      int block = Math.min(BLOCK, count - done);
      buffer.get(from + done, mine, 0, block);
      for (int i = 0; i < block; i++) {
        if (Float.isNaN(mine[i])) {
          buffer.put(from + done + i, Float.NaN);
        }
      }
    }
  }
}
