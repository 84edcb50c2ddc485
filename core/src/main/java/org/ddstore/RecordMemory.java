package org.ddstore;

import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.memory.Segment;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The packed records of consecutive rows where they lie, in memory that this process reaches: for
 * those who read fields in place, by address. Holds the memory: it stays valid until this is
 * closed, also after the store is. To be closed by whoever asked for it; any thread.
 *
 * <p>What {@link DDStore#epochBegin()} changes may be seen half changed; rows that are never
 * updated, as those of a store that was only loaded, are always whole.
 */
public final class RecordMemory implements AutoCloseable {
  private final Segment segment;
  private final long firstRow;
  private final ReadPath path;
  private final AtomicBoolean open = new AtomicBoolean(true);

  /**
   * @param segment with a reference that becomes this object's
   */
  RecordMemory(Segment segment, long firstRow, ReadPath path) {
    this.segment = segment;
    this.firstRow = firstRow;
    this.path = path;
  }

  /** The global index of the first row. */
  public long firstRow() {
    return firstRow;
  }

  /** How many rows there are. */
  public long rows() {
    return segment.rows();
  }

  /** {@link ReadPath#OWN_PROCESS} or {@link ReadPath#SAME_HOST}. */
  public ReadPath path() {
    return path;
  }

  /** Whether a row is one of these. */
  public boolean holds(long row) {
    return row >= firstRow && row < firstRow + segment.rows();
  }

  /**
   * Where a record begins; its {@link #recordBytes} lie in one piece. Little-endian.
   *
   * @param row a global index
   * @throws IndexOutOfBoundsException if the row is none of these
   */
  public long address(long row) {
    return segment().address(row - firstRow);
  }

  /**
   * The bytes of a record.
   *
   * @param row a global index, of these rows; not checked
   */
  public int recordBytes(long row) {
    return segment.recordBytes(row - firstRow);
  }

  /**
   * How many rows, this one included, lie one behind the other at {@link Schema#fixedBytes()}; 1
   * for records with ragged fields, of which every one has its own address.
   *
   * @param row a global index, of these rows; not checked
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

  /** Gives the memory back; no address of it must be used afterwards. Idempotent. */
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
