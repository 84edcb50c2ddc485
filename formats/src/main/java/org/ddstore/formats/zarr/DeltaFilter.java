// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.nio.ByteBuffer;

/**
 * The filter {@code delta}: each element but the first one is stored as the difference to the last.
 */
record DeltaFilter(ZarrType type) implements ByteCodec {
  @Override
  public ByteBuffer decode(ByteBuffer encoded, Size size) {
    ByteBuffer from = encoded.duplicate().order(type.order());
    ByteBuffer to = ByteBuffer.allocate(from.remaining()).order(type.order());
    switch (type.element()) {
      case FLOAT32 -> sumFloats(from, to);
      case FLOAT64 -> sumDoubles(from, to);
      default -> sumIntegers(from, to);
    }
    return to.flip();
  }

  private static void sumFloats(ByteBuffer from, ByteBuffer to) {
    float sum = from.getFloat();
    to.putFloat(sum);
    while (from.hasRemaining()) {
      sum += from.getFloat();
      to.putFloat(sum);
    }
  }

  private static void sumDoubles(ByteBuffer from, ByteBuffer to) {
    double sum = from.getDouble();
    to.putDouble(sum);
    while (from.hasRemaining()) {
      sum += from.getDouble();
      to.putDouble(sum);
    }
  }

  /** Sums wrap around, as in NumPy, so signed and unsigned integers are the same. */
  private void sumIntegers(ByteBuffer from, ByteBuffer to) {
    long sum = 0;
    while (from.hasRemaining()) {
      switch (type.bytes()) {
        case 1 -> to.put((byte) (sum += from.get()));
        case 2 -> to.putShort((short) (sum += from.getShort()));
        case 4 -> to.putInt((int) (sum += from.getInt()));
        default -> to.putLong(sum += from.getLong());
      }
    }
  }
}
