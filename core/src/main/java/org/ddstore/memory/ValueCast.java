// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.types.DType;

/**
 * A cast of numbers to float32 or bfloat16, multiplied by a scale.
 *
 * @param from source type: int8, uint8, int16, int32, bfloat16, float32 or float64
 * @param to target type: float32 or bfloat16
 * @param scale finite factor
 */
public record ValueCast(DType from, DType to, float scale) {
  /** Number of values per block, which fits in the first-level cache. */
  private static final int BLOCK = 2048;

  public ValueCast {
    boolean number = from != DType.BOOL && from != DType.FLOAT16 && from != DType.INT64;
    if (!number || (to != DType.FLOAT32 && to != DType.BFLOAT16)) {
      throw new IllegalArgumentException(
          "cannot cast %s to %s: cast int8, uint8, int16, int32, bfloat16, float32 or float64 to float32 or bfloat16"
              .formatted(from, to));
    }
    if (!Float.isFinite(scale)) {
      throw new IllegalArgumentException("scale " + scale + " is not finite");
    }
  }

  /**
   * Casts contiguous numbers.
   *
   * @param source buffer with the numbers, read as little-endian
   * @param position position of the first number in bytes
   * @param target little-endian buffer
   * @param targetPosition position of the first result in bytes
   * @param count number of values
   */
  public void apply(
      ByteBuffer source, int position, ByteBuffer target, int targetPosition, int count) {
    float[] block = new float[Math.min(BLOCK, count)];
    for (int at = 0; at < count; at += BLOCK) {
      int blockCount = Math.min(BLOCK, count - at);
      load(
          source.slice(position + at * from.bytes(), blockCount * from.bytes()), block, blockCount);
      if (scale != 1) {
        for (int i = 0; i < blockCount; i++) {
          block[i] *= scale;
        }
      }
      store(block, blockCount, target, targetPosition + at * to.bytes());
    }
  }

  private void load(ByteBuffer slice, float[] block, int count) {
    ByteBuffer source = slice.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      block[i] =
          switch (from) {
            case UINT8 -> source.get(i) & 0xFF;
            case INT8 -> source.get(i);
            case INT16 -> source.getShort(2 * i);
            case INT32 -> source.getInt(4 * i);
            case BFLOAT16 -> Float.intBitsToFloat(source.getShort(2 * i) << 16);
            case FLOAT32 -> source.getFloat(4 * i);
            default -> (float) source.getDouble(8 * i);
          };
    }
  }

  private void store(float[] block, int count, ByteBuffer target, int at) {
    for (int i = 0; i < count; i++) {
      if (to == DType.FLOAT32) {
        target.putFloat(at + 4 * i, block[i]);
      } else {
        target.putShort(at + 2 * i, bfloat16(block[i]));
      }
    }
  }

  /** Returns a value as bfloat16 bits, rounded to nearest with ties to even; NaN stays NaN. */
  public static short bfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) (bits >>> 16 | 0x40); // quiet NaN, even if only the dropped bits were set
    }
    return (short) ((bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16);
  }
}
