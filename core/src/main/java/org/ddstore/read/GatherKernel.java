package org.ddstore.read;

import org.ddstore.transport.Availability;

/**
 * Copies records by raw address, one call for many: what native code does better than a loop over
 * buffers. Found by {@link java.util.ServiceLoader} as {@link Provider}; see {@link GatherKernels}.
 *
 * <p>Addresses are trusted: who calls has checked that all that is named lies in memory that stays
 * while the call lasts. Any thread; nothing is kept between calls. What was written is visible to
 * whoever is handed the target afterwards.
 */
public interface GatherKernel {
  /** Longs that describe one field: {@link #FIELD_OFFSET}, {@link #FIELD_BYTES}, .. */
  int FIELD_LONGS = 3;

  /** Where the field begins in a record, in bytes. */
  int FIELD_OFFSET = 0;

  /** The bytes of the field. */
  int FIELD_BYTES = 1;

  /** The address that gets the field of the first record. */
  int FIELD_TARGET = 2;

  /** Longs that describe a ragged field: {@link #RAGGED_ROW_BYTES}, .. */
  int RAGGED_LONGS = 3;

  /** The bytes of one of the field's rows, whose number a record tells. */
  int RAGGED_ROW_BYTES = 0;

  /** The address of int64 row offsets, one more than records; 0 if the field is passed over. */
  int RAGGED_OFFSETS = 1;

  /** The address that gets the values; used by {@link #copyRagged} alone. */
  int RAGGED_VALUES = 2;

  /** Finds the kernel of a library that may be missing. */
  interface Provider {
    /** Whether it can be used by this process; throws nothing. */
    Availability availability();

    /** The kernel, if it is available. */
    GatherKernel kernel();
  }

  /**
   * Copies fixed fields of records: the field of record i goes to its target + i * its bytes.
   *
   * @param fields {@link #FIELD_LONGS} a field
   * @param fieldCount how many fields, at least 1
   * @throws IndexOutOfBoundsException if the rows are indices and one is outside their table
   */
  void scatter(KernelRows rows, long[] fields, int fieldCount);

  /**
   * Copies one fixed field of records into a Java array: that of record i to {@code arrayBytes + i
   * * bytes}. Pins the array: not for records that may have to be read from a disk.
   *
   * @param offset where the field begins in a record
   * @param bytes of the field
   * @param array of primitives, large enough
   * @param arrayBytes where the first one goes, in bytes
   * @throws IndexOutOfBoundsException as above
   */
  void scatterToArray(KernelRows rows, int offset, int bytes, Object array, long arrayBytes);

  /**
   * Copies pieces of memory back to back into an array, which is pinned.
   *
   * @param pieces the address of each
   * @param bytes of each
   */
  void pack(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /**
   * As {@link #pack}, of pieces that may have to be read from a disk: a collection of garbage does
   * not wait for that.
   */
  void packPaged(long[] pieces, int[] bytes, int count, byte[] target, int targetOffset);

  /**
   * Writes the row offsets of ragged fields: count + 1 of each, the first 0.
   *
   * @param records their addresses
   * @param recordBytes how long each is: a record whose lengths say more is not followed
   * @param firstLength where the lengths of the ragged fields begin in a record, an int32 each
   * @param fields {@link #RAGGED_LONGS} for each ragged field of the schema, in its order
   * @param totals receives the last offset of each field; 0 for those passed over
   * @return -1, or the number of the first record whose lengths do not fit its bytes
   */
  int measureRagged(
      long[] records, int[] recordBytes, int count, int firstLength, long[] fields, long[] totals);

  /**
   * Copies the values of ragged fields, back to back, after {@link #measureRagged} has found all
   * records right.
   *
   * @param firstLength as there; the data follow the lengths
   */
  void copyRagged(long[] records, int count, int firstLength, long[] fields);
}
