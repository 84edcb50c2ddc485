// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RowDigestTest {
  private static final String GOLDEN_EMPTY = "83434a5684f7b2d4535d5229830e7e01";
  private static final String GOLDEN_NINE = "d56172c21d86b411de07835e24834f3e";
  private static final BigInteger WORD = BigInteger.ONE.shiftLeft(64);

  @Test
  void matchesTheFormula() {
    Random random = new Random(1);
    for (int length = 0; length < 40; length++) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      long index = random.nextLong() >>> 1;
      assertThat(digest(index, bytes)).isEqualTo(formula(index, bytes));
    }
  }

  /** These must never change: they are compared over versions. */
  @Test
  void goldenValues() {
    assertThat(digest(0, new byte[0])).isEqualTo(GOLDEN_EMPTY);
    assertThat(digest(7, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9})).isEqualTo(GOLDEN_NINE);
    assertThat(new RowDigest()).hasToString("0".repeat(32));
  }

  @Test
  void isIndependentOfOrderAndDistribution() {
    RowDigest forward = new RowDigest();
    RowDigest one = new RowDigest();
    RowDigest two = new RowDigest();
    for (int i = 0; i < 100; i++) {
      add(forward, i, bytes(i));
      add(i % 3 == 0 ? one : two, 99 - i, bytes(99 - i));
    }
    two.add(one.high(), one.low());
    assertThat(two).hasToString(forward.toString());
  }

  @Test
  void dependsOnEveryBitOfDataLengthAndIndex() {
    for (int length = 0; length < 24; length++) {
      Set<String> seen = new HashSet<>();
      byte[] bytes = new byte[length];
      seen.add(digest(5, bytes));
      for (int bit = 0; bit < length * 8; bit++) {
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
        assertThat(seen.add(digest(5, bytes))).as("bit %d of %d bytes", bit, length).isTrue();
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
      }
      for (int bit = 0; bit < 63; bit++) {
        assertThat(seen.add(digest(5 ^ (1L << bit), bytes))).as("bit %d of index", bit).isTrue();
      }
      assertThat(seen.add(digest(5, new byte[length + 1]))).as("length").isTrue();
    }
  }

  @Test
  void detectsSwappedRows() {
    RowDigest right = new RowDigest();
    add(right, 1, bytes(1));
    add(right, 2, bytes(2));
    RowDigest swapped = new RowDigest();
    add(swapped, 1, bytes(2));
    add(swapped, 2, bytes(1));
    assertThat(swapped.toString()).isNotEqualTo(right.toString());
  }

  private static byte[] bytes(int seed) {
    byte[] bytes = new byte[seed % 20];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static void add(RowDigest digest, long index, byte[] bytes) {
    ByteBuffer chunk = ByteBuffer.allocate(bytes.length + 5).order(ByteOrder.LITTLE_ENDIAN);
    chunk.put(3, bytes);
    digest.add(index, chunk, 3, bytes.length);
  }

  private static String digest(long index, byte[] bytes) {
    RowDigest digest = new RowDigest();
    add(digest, index, bytes);
    return digest.toString();
  }

  private static String formula(long index, byte[] bytes) {
    long[] keys = {0x6A09E667F3BCC908L, 0xBB67AE8584CAA73BL};
    long[] multipliers = {0x3C6EF372FE94F82BL, 0xA54FF53A5F1D36F1L};
    StringBuilder text = new StringBuilder();
    for (int half = 0; half < 2; half++) {
      long state = mix(keys[half] ^ index, multipliers[half]);
      for (int at = 0; at < bytes.length; at += 8) {
        long word = 0;
        for (int i = at; i < Math.min(bytes.length, at + 8); i++) {
          word += (bytes[i] & 0xFFL) << (8 * (i - at));
        }
        state = mix(state ^ word, multipliers[half]);
      }
      text.append("%016x".formatted(mix(state ^ bytes.length, multipliers[1 - half])));
    }
    return text.toString();
  }

  private static long mix(long value, long multiplier) {
    BigInteger product = BigInteger.valueOf(value).multiply(BigInteger.valueOf(multiplier));
    return product.shiftRight(64).longValue() ^ product.mod(WORD).longValue();
  }
}
