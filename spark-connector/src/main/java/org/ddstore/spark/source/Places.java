package org.ddstore.spark.source;

/**
 * Where the values of a field lie, by row of a batch: at equal distances, or each at an address of
 * its own.
 */
final class Places {
  private final long base;
  private final long strideBytes;
  private final long[] addresses;

  private Places(long base, long strideBytes, long... addresses) {
    this.base = base;
    this.strideBytes = strideBytes;
    this.addresses = addresses;
  }

  /** Row i is at {@code base + i * strideBytes}. */
  static Places strided(long base, long strideBytes) {
    return new Places(base, strideBytes, (long[]) null);
  }

  /**
   * Row i is {@code offset} behind {@code addresses[i]}.
   *
   * @param addresses not copied
   */
  static Places scattered(long offset, long... addresses) {
    return new Places(offset, 0, addresses);
  }

  long at(int row) {
    return addresses == null ? base + row * strideBytes : addresses[row] + base;
  }
}
