package org.ddstore.sampling;

/** A bijection of [0, size) onto itself, computed place by place. Immutable; any thread. */
public interface Permutation {
  /** Sizes up to this one are shuffled in a table: a network over so few is visibly not uniform. */
  int MOST_IN_TABLE = 1 << 16;

  /** How many numbers are permuted. */
  long size();

  /**
   * The number at a place.
   *
   * @param position of [0, size), not checked
   */
  long at(long position);

  /**
   * Replaces places by the numbers at them.
   *
   * @param places of [0, size), not checked
   * @param from the first that is replaced
   * @param count how many are
   */
  default void replace(long[] places, int from, int count) {
    for (int i = from; i < from + count; i++) {
      places[i] = at(places[i]);
    }
  }

  /**
   * The permutation that belongs to a key, the same on every JVM and in every version. Up to
   * {@value #MOST_IN_TABLE} numbers it is a table of two bytes each, above it takes no memory.
   *
   * @param size of [0, 2^61]
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
