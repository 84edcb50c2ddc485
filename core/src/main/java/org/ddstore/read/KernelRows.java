package org.ddstore.read;

/** The records that a {@link GatherKernel} copies. Reused by its plan for all batches. */
public final class KernelRows {
  private long[] places;
  private long[] rows;
  private int first;
  private int count;
  private int[] rowsOfExtents = {};

  KernelRows() {}

  /** Sets records by their addresses. */
  void setAddresses(long[] addresses, int count) {
    places = null;
    rows = addresses;
    first = 0;
    this.count = count;
  }

  /**
   * Sets records by their global indices, which the kernel resolves.
   *
   * @param table table from {@link PlaceTable}
   * @param indices checked global indices, unchanged until the rows are copied
   */
  void setIndices(long[] table, long[] indices, int offset, int count) {
    places = table;
    rows = indices;
    first = offset;
    this.count = count;
    if (rowsOfExtents.length == 0) {
      rowsOfExtents = new int[PlaceTable.MAX_EXTENTS];
    }
  }

  /** Returns the table from {@link PlaceTable}; null if {@link #rows} are addresses. */
  public long[] places() {
    return places;
  }

  /** Returns the global index of each record, or its address. */
  public long[] rows() {
    return rows;
  }

  /** Returns the position in {@link #rows} of the first record to copy. */
  public int first() {
    return first;
  }

  /** Returns the number of records to copy. */
  public int count() {
    return count;
  }

  /**
   * Returns the array that receives the number of copied rows per extent, if {@link #places} is
   * set.
   */
  public int[] rowsOfExtents() {
    return rowsOfExtents;
  }
}
