package org.ddstore.nativeio;

/**
 * What this machine can do at best, for benchmarks. Only where {@link NativeLibrary#isLoaded()}.
 * Addresses are trusted.
 */
public final class CopyLimit {
  private CopyLimit() {}

  /**
   * Copies rows by a plain loop of {@code memcpy}, without any look ahead: batch b gets rows {@code
   * [b * batchRows, (b + 1) * batchRows)} back to back.
   *
   * @param rows the address of each row
   * @param targets the address of each batch, {@code rows.length / batchRows} of them
   * @return the nanoseconds of the loop
   */
  public static long rowsNanos(long[] rows, long[] targets, int batchRows, int rowBytes) {
    if ((long) targets.length * batchRows > rows.length) {
      throw new IllegalArgumentException(
          "%,d rows for %,d batches of %,d".formatted(rows.length, targets.length, batchRows));
    }
    return checked(copyRows(rows, targets, batchRows, rowBytes));
  }

  /**
   * Copies one stretch of memory, past the caches where the processor can.
   *
   * @return the nanoseconds that it took
   */
  public static long stretchNanos(long from, long to, long bytes) {
    return checked(copyStretch(from, to, bytes));
  }

  private static long checked(long nanos) {
    if (nanos < 0) {
      throw new OutOfMemoryError("the JVM gave no memory for addresses: error " + -nanos);
    }
    return nanos;
  }

  private static native long copyRows(long[] rows, long[] targets, int batchRows, int rowBytes);

  private static native long copyStretch(long from, long to, long bytes);
}
