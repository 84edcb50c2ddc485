// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.memory.Segment;
import org.ddstore.read.Placement;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The packed records of consecutive rows in memory that this process owns or has mapped, for
 * reading fields in place by address. It retains the memory, which stays valid until this object is
 * closed, even after the store is closed. The caller closes it; any thread may use it.
 *
 * <p>Rows that {@link DDStore#epochBegin()} is changing may appear torn; rows that are never
 * updated are always consistent.
 */
public final class RecordMemory implements AutoCloseable {
  private final Segment segment;
  private final long firstRow;
  private final ReadPath path;
  private final AtomicBoolean open = new AtomicBoolean(true);

  /** Returns the memory of an extent; empty if it is remote. */
  static Optional<RecordMemory> of(Placement placement, int extent) {
    Segment segment = placement.segment(extent);
    return segment != null && segment.retain()
        ? Optional.of(
            new RecordMemory(segment, placement.extents().firstRow(extent), placement.path(extent)))
        : Optional.empty();
  }

  /**
   * @param segment segment with a reference that this object takes over
   */
  private RecordMemory(Segment segment, long firstRow, ReadPath path) {
    this.segment = segment;
    this.firstRow = firstRow;
    this.path = path;
  }

  /** {@return the global index of the first row} */
  public long firstRow() {
    return firstRow;
  }

  /** {@return the number of rows} */
  public long rows() {
    return segment.rows();
  }

  /** {@return {@link ReadPath#OWN_PROCESS} or {@link ReadPath#SAME_HOST}} */
  public ReadPath path() {
    return path;
  }

  /**
   * {@return whether this memory holds a row, given by its global index}
   *
   * @param row global index of the row
   */
  public boolean holds(long row) {
    return row >= firstRow && row < firstRow + segment.rows();
  }

  /**
   * {@return the address of a record, whose {@link #recordBytes} bytes are contiguous and
   * little-endian}
   *
   * @param row a global index
   * @throws IndexOutOfBoundsException if this memory does not hold the row
   */
  public long address(long row) {
    return segment().address(row - firstRow);
  }

  /**
   * {@return the size of a record in bytes}
   *
   * @param row global index of a row in this memory; not checked
   */
  public int recordBytes(long row) {
    return segment.recordBytes(row - firstRow);
  }

  /**
   * {@return the number of rows, starting with this one, that are contiguous at a distance of
   * {@link Schema#fixedBytes()}; 1 for records with ragged fields, which have separate addresses}
   *
   * @param row global index of a row in this memory; not checked
   */
  public long run(long row) {
    if (!segment.schema().isFixed()) {
      return 1;
    }
    long local = row - firstRow;
    long nextChunk = ((local >>> segment.rowShift()) + 1) << segment.rowShift();
    return Math.min(nextChunk, segment.rows()) - local;
  }

  private Segment segment() {
    if (!open.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return segment;
  }

  /** Releases the memory; its addresses must not be used afterwards. Idempotent. */
  @Override
  public void close() {
    if (open.compareAndSet(true, false)) {
      segment.release();
    }
  }

  @Override
  public String toString() {
    return "RecordMemory[rows [%d, %d), %s]".formatted(firstRow, firstRow + segment.rows(), path);
  }
}
