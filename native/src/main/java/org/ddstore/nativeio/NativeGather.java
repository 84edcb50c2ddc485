// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import org.ddstore.read.GatherKernel;

/** A gather kernel in C. */
final class NativeGather implements GatherKernel {
  private static final int EINVAL = 22;
  private static final int ERANGE = 34;

  @Override
  public void scatter(Rows rows, long[] fields, int fieldCount) {
    check(
        scatterFields(
            rows.places(),
            rows.rows(),
            rows.first(),
            rows.count(),
            fields,
            fieldCount,
            rows.rowsOfExtents()));
  }

  @Override
  public void scatterToArray(Rows rows, int offset, int bytes, Object array, long arrayBytes) {
    check(
        scatterArray(
            rows.places(),
            rows.rows(),
            rows.first(),
            rows.count(),
            offset,
            bytes,
            array,
            arrayBytes,
            rows.rowsOfExtents()));
  }

  @Override
  public void pack(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset) {
    check(packPieces(pieces, bytes, count, target, targetOffset));
  }

  @Override
  public void pack(long[] pieces, int[] bytes, int count, long target) {
    check(packToMemory(pieces, bytes, count, target));
  }

  @Override
  public void packPaged(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset) {
    check(packPagedPieces(pieces, bytes, count, target, targetOffset));
  }

  @Override
  public int measureRagged(
      long[] records, int[] recordBytes, int count, int firstLength, long[] fields, long[] totals) {
    int wrong = measure(records, recordBytes, count, firstLength, fields, totals);
    check(wrong == -1 ? 0 : wrong);
    return wrong;
  }

  @Override
  public void copyRagged(long[] records, int count, int firstLength, long[] fields) {
    check(copyValues(records, count, firstLength, fields, fields.length / RAGGED_LONGS));
  }

  private static void check(int result) {
    if (result == -EINVAL) {
      throw new IllegalArgumentException("the library has no room for the place table");
    }
    if (result == -ERANGE) {
      throw new IndexOutOfBoundsException("row outside its place table");
    }
    if (result < 0) {
      throw new OutOfMemoryError("no memory to copy rows: error " + -result);
    }
  }

  /** Returns 0 or -errno. */
  static native int scatterFields(
      long[] places,
      long[] rows,
      int first,
      int count,
      long[] fields,
      int fieldCount,
      int[] rowsOfExtents);

  /** Returns 0 or -errno. */
  private static native int scatterArray(
      long[] places,
      long[] rows,
      int first,
      int count,
      int offset,
      int bytes,
      Object array,
      long arrayBytes,
      int[] rowsOfExtents);

  /** Returns 0 or -errno. */
  private static native int packPieces(
      long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /** Returns 0 or -errno. */
  private static native int packToMemory(long[] pieces, int[] bytes, int count, long target);

  /** Returns 0 or -errno. */
  private static native int packPagedPieces(
      long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /** Returns -1, the number of a record, or another -errno. */
  private static native int measure(
      long[] records, int[] recordBytes, int count, int firstLength, long[] fields, long[] totals);

  /** Returns 0 or -errno. */
  private static native int copyValues(
      long[] records, int count, int firstLength, long[] fields, int fieldCount);
}
