package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.types.DType;

/**
 * Makes float32 or bfloat16 of numbers, times a scale.
 *
 * @param from int8, uint8, int16, int32, bfloat16, float32 or float64
 * @param to float32 or bfloat16
 * @param scale finite
 */
public record ValueCast(DType from, DType to, float scale) {
  /** Fits the first-level cache. */
  private static final int BLOCK = 2048;

  public ValueCast {
    boolean number = from != DType.BOOL && from != DType.FLOAT16 && from != DType.INT64;
    if (!number || (to != DType.FLOAT32 && to != DType.BFLOAT16)) {
      throw new IllegalArgumentException(
          "a cast from %s to %s; casts go from int8, uint8, int16, int32, bfloat16, float32 and float64 to float32 and bfloat16"
              .formatted(from, to));
    }
    if (!Float.isFinite(scale)) {
      throw new IllegalArgumentException("scale " + scale + " is not finite");
    }
  }

  /**
   * Casts numbers that lie one after the other.
   *
   * @param position of the first number, in bytes
   * @param target little-endian
   * @param targetPosition of the first result, in bytes
   */
  public void apply(
      ByteBuffer source, int position, ByteBuffer target, int targetPosition, int count) {
    float[] block = new float[Math.min(BLOCK, count)];
    for (int at = 0; at < count; at += BLOCK) {
      int some = Math.min(BLOCK, count - at);
      load(source.slice(position + at * from.bytes(), some * from.bytes()), block, some);
      if (scale != 1) {
        for (int i = 0; i < some; i++) {
          block[i] *= scale;
        }
      }
      store(block, some, target, targetPosition + at * to.bytes());
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

  /** The upper half of a binary32, rounded to nearest, ties to even; NaN stays NaN. */
  public static short bfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) (bits >>> 16 | 0x40); // quiet, also if only lower bits made it one
    }
    return (short) ((bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16);
  }
}
