package org.ddstore.read;

/** The records that a {@link GatherKernel} is to copy. Reused by its plan from batch to batch. */
public final class KernelRows {
  private long[] places;
  private long[] rows;
  private int first;
  private int count;
  private int[] rowsOfExtents = {};

  KernelRows() {}

  /** Records whose addresses are known. */
  void setAddresses(long[] addresses, int ofCount) {
    places = null;
    rows = addresses;
    first = 0;
    count = ofCount;
  }

  /**
   * Records that the kernel finds itself.
   *
   * @param table by {@link PlaceTable}
   * @param indices checked global indices, which stay as they are until the rows are copied
   */
  void setIndices(long[] table, long[] indices, int offset, int ofCount) {
    places = table;
    rows = indices;
    first = offset;
    count = ofCount;
    if (rowsOfExtents.length == 0) {
      rowsOfExtents = new int[PlaceTable.MAX_EXTENTS];
    }
  }

  /** Where global rows lie, by {@link PlaceTable}; null if {@link #rows} are addresses. */
  public long[] places() {
    return places;
  }

  /** The global index of each record, or its address. */
  public long[] rows() {
    return rows;
  }

  /** The first of {@link #rows} to be copied. */
  public int first() {
    return first;
  }

  /** How many are to be copied. */
  public int count() {
    return count;
  }

  /** Receives how many of each extent were copied, if there are {@link #places}. */
  public int[] rowsOfExtents() {
    return rowsOfExtents;
  }
}
