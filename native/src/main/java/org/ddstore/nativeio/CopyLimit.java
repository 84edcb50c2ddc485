// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

/** Upper limits of this machine's copy speed, for benchmarks. Addresses are not checked. */
public final class CopyLimit {
  private CopyLimit() {}

  /**
   * Copies rows by a plain loop of {@code memcpy}, without prefetching: batch b receives rows
   * {@code [b * batchRows, (b + 1) * batchRows)} contiguously.
   *
   * @param rows address of each row
   * @param targets address of each batch, {@code rows.length / batchRows} elements
   * @return duration of the loop in nanoseconds
   */
  public static long rowsNanos(long[] rows, long[] targets, int batchRows, int rowBytes) {
    if ((long) targets.length * batchRows > rows.length) {
      throw new IllegalArgumentException(
          "%,d rows for %,d batches of %,d".formatted(rows.length, targets.length, batchRows));
    }
    return checked(copyRows(rows, targets, batchRows, rowBytes));
  }

  /**
   * Copies one contiguous range of memory, bypassing the caches if the processor can.
   *
   * @return duration in nanoseconds
   */
  public static long stretchNanos(long from, long to, long bytes) {
    return checked(copyStretch(from, to, bytes));
  }

  private static long checked(long nanos) {
    if (nanos < 0) {
      throw new OutOfMemoryError("no memory for addresses: error " + -nanos);
    }
    return nanos;
  }

  private static native long copyRows(long[] rows, long[] targets, int batchRows, int rowBytes);

  private static native long copyStretch(long from, long to, long bytes);
}
