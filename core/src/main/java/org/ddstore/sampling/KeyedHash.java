// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * Hashes of numbers that are the same on every JVM and in every version. All randomness of this
 * package is derived from them, so that a state can be resumed elsewhere and later.
 */
final class KeyedHash {
  /** First 64 bits of the fraction of the golden ratio, made odd. */
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private KeyedHash() {}

  /** Permutes 64-bit words: the finaliser of SplitMix64 (Steele, Lea, Flood, 2014). */
  static long mix(long word) {
    long z = (word ^ (word >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Returns a key for one purpose of one epoch; equal words give equal keys. */
  static long key(long seed, long... words) {
    long key = mix(seed + GOLDEN);
    for (long word : words) {
      key = mix(key + GOLDEN + word);
    }
    return key;
  }

  static long word(long key, long position) {
    return mix(key + position * GOLDEN);
  }

  /**
   * Maps a random word uniformly to [0, bound), by its upper bits; the bias is below bound / 2^63.
   *
   * @param bound in [1, 2^62)
   */
  static long below(long word, long bound) {
    return Math.multiplyHigh(word >>> 1, bound << 1);
  }

  /** Maps a random word uniformly to the open interval (0, 1). */
  static double open(long word) {
    return ((word >>> 11) + 0.5) * 0x1.0p-53;
  }
}
