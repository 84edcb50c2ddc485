package org.ddstore.read;

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
  void scatter(KernelRows rows, long[] fields, int fieldCount);

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
  void scatterToArray(KernelRows rows, int offset, int bytes, Object array, long arrayBytes);

  /**
   * Copies pieces of memory contiguously into an array, which is pinned.
   *
   * @param pieces address of each piece
   * @param bytes size of each piece in bytes
   */
  void pack(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /**
   * Copies pieces like {@link #pack}, without blocking the garbage collector, for pieces that may
   * have to be read from a disk.
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

  /**
   * Copies the values of ragged fields contiguously, after {@link #measureRagged} has validated all
   * records.
   *
   * @param firstLength as for {@link #measureRagged}; the data follow the lengths
   */
  void copyRagged(long[] records, int count, int firstLength, long[] fields);
}
