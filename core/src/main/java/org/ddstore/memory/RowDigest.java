// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;

/**
 * A 128-bit digest of the global indices and bytes of rows: the sum, modulo 2^64 per half, of a
 * hash of (index, bytes). The sum does not depend on the order of rows or their distribution over
 * ranks. It detects mistakes, not attacks.
 *
 * <p>The hash multiplies 64-bit words to 128 bits and folds the halves (the mixing step of the
 * wyhash family), once for each half of the digest with different keys: the first 64 fractional
 * bits of sqrt(2), sqrt(3), sqrt(5) and sqrt(7), made odd for multipliers.
 */
public final class RowDigest {
  private static final long KEY_A = 0x6A09E667F3BCC908L;
  private static final long KEY_B = 0xBB67AE8584CAA73BL;
  private static final long MULTIPLIER_A = 0x3C6EF372FE94F82BL;
  private static final long MULTIPLIER_B = 0xA54FF53A5F1D36F1L;

  private long high;
  private long low;

  /** Adds row {@code index} with its packed record at {@code position}. */
  public void add(long index, ByteBuffer chunk, int position, int length) {
    long a = mix(KEY_A ^ index, MULTIPLIER_A);
    long b = mix(KEY_B ^ index, MULTIPLIER_B);
    int end = position + length;
    int at = position;
    for (; at <= end - Long.BYTES; at += Long.BYTES) {
      long word = chunk.getLong(at);
      a = mix(a ^ word, MULTIPLIER_A);
      b = mix(b ^ word, MULTIPLIER_B);
    }
    if (at < end) {
      long word = 0;
      for (int shift = 0; at < end; at++, shift += Byte.SIZE) {
        word |= (chunk.get(at) & 0xFFL) << shift;
      }
      a = mix(a ^ word, MULTIPLIER_A);
      b = mix(b ^ word, MULTIPLIER_B);
    }
    // The length is mixed last: next to the index, a byte of the first word could cancel it out.
    high += mix(a ^ length, MULTIPLIER_B);
    low += mix(b ^ length, MULTIPLIER_A);
  }

  /** Adds all rows of a segment; {@code firstIndex} is the global index of its first row. */
  public void add(long firstIndex, Segment segment) {
    for (long row = 0; row < segment.rows(); row++) {
      long place = segment.place(row);
      add(
          firstIndex + row,
          segment.chunk(Segment.chunkOf(place)),
          Segment.positionOf(place),
          segment.recordBytes(row));
    }
  }

  /** Adds the rows of another digest, given by its halves. */
  public void add(long otherHigh, long otherLow) {
    high += otherHigh;
    low += otherLow;
  }

  public long high() {
    return high;
  }

  public long low() {
    return low;
  }

  private static long mix(long value, long multiplier) {
    return Math.multiplyHigh(value, multiplier) ^ (value * multiplier);
  }

  /** Returns 32 hexadecimal digits. */
  @Override
  public String toString() {
    return "%016x%016x".formatted(high, low);
  }
}
