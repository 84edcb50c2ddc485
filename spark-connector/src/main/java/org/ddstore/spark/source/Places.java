// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

/**
 * The addresses of the values of a field by row of a batch: equidistant, or one address per row.
 */
final class Places {
  private final long base;
  private final long strideBytes;
  private final long[] addresses;

  /** The thread that has requested the batch. */
  private final Thread owner;

  /** The threads that read the batch; null if the memory outlives all of them. */
  private final ReaderThreads readers;

  private Places(
      long base, long strideBytes, long[] addresses, Thread owner, ReaderThreads readers) {
    this.base = base;
    this.strideBytes = strideBytes;
    this.addresses = addresses;
    this.owner = owner;
    this.readers = readers;
  }

  /** Returns places in which row i is at {@code base + i * strideBytes}. */
  static Places strided(long base, long strideBytes) {
    return new Places(base, strideBytes, null, Thread.currentThread(), null);
  }

  /**
   * Returns places in which row i is at {@code addresses[i] + offset}.
   *
   * @param addresses addresses by row, not copied
   */
  static Places scattered(long offset, long... addresses) {
    return new Places(offset, 0, addresses, Thread.currentThread(), null);
  }

  /** Returns these places for a batch requested by the calling thread and readable by others. */
  Places readBy(ReaderThreads threads) {
    return new Places(base, strideBytes, addresses, Thread.currentThread(), threads);
  }

  /** Returns places within one of these: element i is at {@code address + i * stepBytes}. */
  Places inside(long address, long stepBytes) {
    return new Places(address, stepBytes, null, owner, readers);
  }

  /**
   * Returns the address of the values of a row. The calling thread can read them until it ends.
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
