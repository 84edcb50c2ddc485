package org.ddstore.spark.source;

/**
 * Where the values of a field lie, by row of a batch: at equal distances, or each at an address of
 * its own.
 */
final class Places {
  private final long base;
  private final long strideBytes;
  private final long[] addresses;

  /** The thread that has asked for the batch. */
  private final Thread owner;

  /** Null where the memory outlives all threads that read it. */
  private final ReaderThreads readers;

  private Places(
      long base, long strideBytes, long[] addresses, Thread owner, ReaderThreads readers) {
    this.base = base;
    this.strideBytes = strideBytes;
    this.addresses = addresses;
    this.owner = owner;
    this.readers = readers;
  }

  /** Row i is at {@code base + i * strideBytes}. */
  static Places strided(long base, long strideBytes) {
    return new Places(base, strideBytes, null, Thread.currentThread(), null);
  }

  /**
   * Row i is {@code offset} behind {@code addresses[i]}.
   *
   * @param addresses not copied
   */
  static Places scattered(long offset, long... addresses) {
    return new Places(offset, 0, addresses, Thread.currentThread(), null);
  }

  /** The same places of a batch that the calling thread has asked for, and others may read. */
  Places readBy(ReaderThreads threads) {
    return new Places(base, strideBytes, addresses, Thread.currentThread(), threads);
  }

  /** Places inside of one of these: element i is at {@code address + i * stepBytes}. */
  Places inside(long address, long stepBytes) {
    return new Places(address, stepBytes, null, owner, readers);
  }

  /**
   * The address of the values of a row. The calling thread may read them until it ends.
   *
   * @throws IllegalStateException if the task of the batch has ended, and the thread has not read
   *     the batch before
   */
  long at(int row) {
    if (Thread.currentThread() != owner && readers != null) {
      readers.enter();
    }
    return addresses == null ? base + row * strideBytes : addresses[row] + base;
  }
}
