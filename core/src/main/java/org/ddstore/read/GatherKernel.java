// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.nio.ByteBuffer;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.RawAddress;
import org.ddstore.transport.Availability;

/**
 * A native kernel that copies many records by raw address in one call, faster than a loop over
 * buffers. {@link java.util.ServiceLoader} finds its {@link Provider}; see {@link GatherKernels}.
 *
 * <p>Addresses are trusted: the caller ensures that all of them lie in memory that stays valid
 * during the call. Any thread may call a kernel; it keeps no state between calls. Its writes are
 * visible to threads that the target is safely published to afterwards.
 */
public interface GatherKernel {
  /** Number of longs that describe one field: {@link #FIELD_OFFSET} and the following constants. */
  int FIELD_LONGS = 3;

  /** Index of the offset of the field in a record, in bytes. */
  int FIELD_OFFSET = 0;

  /** Index of the size of the field, in bytes. */
  int FIELD_BYTES = 1;

  /** Index of the target address for the field of the first record. */
  int FIELD_TARGET = 2;

  /** Number of longs that describe a ragged field: {@link #RAGGED_ROW_BYTES} and the following. */
  int RAGGED_LONGS = 3;

  /** Index of the size of one row of the field, in bytes; the record holds the number of rows. */
  int RAGGED_ROW_BYTES = 0;

  /** Index of the address of the int64 row offsets (records + 1); 0 to skip the field. */
  int RAGGED_OFFSETS = 1;

  /** Index of the target address of the values; used only by {@link #copyRagged}. */
  int RAGGED_VALUES = 2;

  /** A provider of the kernel of an optional library. */
  interface Provider {
    /** Returns whether this process can use the kernel. Throws nothing. */
    Availability availability();

    /** Returns the kernel; only if it is available. */
    GatherKernel kernel();
  }

  /**
   * Copies fixed fields of records: the field of record i is copied to its target + i * size.
   *
   * @param fields {@link #FIELD_LONGS} longs per field
   * @param fieldCount number of fields, at least 1
   * @throws IndexOutOfBoundsException if the rows are indices and one of them is outside the table
   */
  void scatter(Rows rows, long[] fields, int fieldCount);

  /**
   * Copies one fixed field of records into a Java array: the field of record i to byte {@code
   * arrayBytes + i * bytes}. Pins the array, so the records must not require disk reads.
   *
   * @param offset offset of the field in a record, in bytes
   * @param bytes size of the field in bytes
   * @param array array of primitives with enough room
   * @param arrayBytes byte position in the array for the first record
   * @throws IndexOutOfBoundsException if the rows are indices and one of them is outside the table
   */
  void scatterToArray(Rows rows, int offset, int bytes, Object array, long arrayBytes);

  /** Copies pieces, given by address and size, contiguously into an array, which is pinned. */
  void pack(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /** Copies pieces, given by address and size, contiguously to an address. */
  void pack(long[] pieces, int[] bytes, int count, long target);

  /**
   * Copies pieces like {@link #pack(long[], int[], int, byte[], int)}, without blocking the garbage
   * collector, for pieces that may have to be read from a disk.
   */
  void packPaged(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /**
   * Writes the row offsets of ragged fields: count + 1 per field, the first is 0.
   *
   * @param records addresses of the records
   * @param recordBytes size of each record in bytes; bounds the access even if its lengths are
   *     larger
   * @param firstLength offset of the lengths of the ragged fields in a record, one int32 per field
   * @param fields {@link #RAGGED_LONGS} longs per ragged field of the schema, in its order
   * @param totals receives the last offset of each field; 0 for skipped fields
   * @return -1, or the index of the first record whose lengths contradict its size
   */
  int measureRagged(
      long[] records, int[] recordBytes, int count, int firstLength, long[] fields, long[] totals);

  /** Copies the values of ragged fields contiguously, after {@link #measureRagged}. */
  void copyRagged(long[] records, int count, int firstLength, long[] fields);

  /** The records that a kernel copies. Reused by its plan for all batches. */
  final class Rows {
    private long[] places;
    private long[] rows;
    private int first;
    private int count;
    private int[] rowsOfExtents = {};

    Rows() {}

    void setAddresses(long[] addresses, int count) {
      places = null;
      rows = addresses;
      first = 0;
      this.count = count;
    }

    /** Sets records by checked global indices and a {@link Placement#placeTable()}. */
    void setIndices(long[] table, long[] indices, int offset, int count) {
      places = table;
      rows = indices;
      first = offset;
      this.count = count;
      if (rowsOfExtents.length == 0) {
        rowsOfExtents = new int[Placement.MAX_TABLE_EXTENTS];
      }
    }

    /** Returns {@link Placement#placeTable()}; null if {@link #rows} are addresses. */
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

    public int count() {
      return count;
    }

    /** Returns the array for the number of copied rows per extent, if {@link #places} is set. */
    public int[] rowsOfExtents() {
      return rowsOfExtents;
    }
  }

  /** The target of the values of one field in a gather: a buffer or an array. Reused. */
  final class Target {
    private ByteBuffer buffer;
    private long address;
    private Object array;
    private long arrayBytes;

    public void set(GrowingBuffer memory, long bytes) {
      buffer = memory.ensure(bytes);
      address = memory.address();
      array = null;
    }

    /**
     * Sets the target to a buffer, from index 0.
     *
     * @param bufferAddress address of a direct buffer, from {@link RawAddress}; ignored for others
     */
    public void set(ByteBuffer memory, long bufferAddress) {
      buffer = memory;
      address = bufferAddress;
      array = memory.isDirect() ? null : memory.array();
      arrayBytes = memory.isDirect() ? 0 : memory.arrayOffset();
    }

    /** Sets the target to an array of primitives, which only a kernel can fill. */
    public void setArray(Object primitives) {
      buffer = null;
      array = primitives;
      arrayBytes = 0;
    }

    /** Returns whether a kernel pins a Java array to fill this target. */
    public boolean isArray() {
      return array != null;
    }

    /** Drops all references to buffers and arrays. */
    public void clear() {
      buffer = null;
      array = null;
      address = 0;
    }

    ByteBuffer buffer() {
      return buffer;
    }

    long address() {
      return address;
    }

    /** Returns the array behind the target; null for direct memory. */
    Object array() {
      return array;
    }

    /** Returns the byte position of the target in its array. */
    long arrayBytes() {
      return arrayBytes;
    }
  }
}
