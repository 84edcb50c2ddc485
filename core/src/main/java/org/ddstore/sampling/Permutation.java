// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** A bijection of [0, size) onto itself, computed per position. Immutable; thread-safe. */
public interface Permutation {
  /** Largest size of a table; a network over fewer numbers is visibly not uniform. */
  int MOST_IN_TABLE = 1 << 16;

  /** {@return the number of permuted numbers} */
  long size();

  /**
   * {@return the number at a position}
   *
   * @param position in [0, size), not checked
   */
  long at(long position);

  /**
   * Replaces positions by the numbers at them.
   *
   * @param places positions in [0, size), not checked
   * @param from first index that is replaced
   * @param count number of positions
   */
  default void replace(long[] places, int from, int count) {
    for (int i = from; i < from + count; i++) {
      places[i] = at(places[i]);
    }
  }

  /**
   * {@return the permutation of a key, the same on every JVM and in every version} For up to
   * {@value #MOST_IN_TABLE} numbers it is a table of two bytes each; larger ones take constant
   * memory.
   *
   * @param size in [0, 2^61]
   * @param key key; any number
   */
  static Permutation keyed(long size, long key) {
    if (size < 0 || size > FeistelPermutation.MAX_SIZE) {
      throw new IllegalArgumentException(
          "size %,d outside [0, %,d]".formatted(size, FeistelPermutation.MAX_SIZE));
    }
    return size <= MOST_IN_TABLE
        ? new TablePermutation((int) size, key)
        : new FeistelPermutation(size, key);
  }
}
