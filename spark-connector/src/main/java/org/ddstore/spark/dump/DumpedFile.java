// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.Serializable;

/**
 * A data file of a dump, as its manifest describes it.
 *
 * <pre>
 * +-----------------+---------------------------+-------------------------------------------+
 * | magic (8 bytes) | packed records, in blocks | one entry per block: records (int32),     |
 * |                 | of whole records          | bytes (int32), CRC-32C (int32), in order  |
 * +-----------------+---------------------------+-------------------------------------------+
 * </pre>
 *
 * Numbers are little-endian. Records have the layout of {@link org.ddstore.types.Schema}.
 *
 * @param firstRow global index of its first row
 * @param bytes length of the file in bytes
 * @param indexCrc CRC-32C of the entries of all blocks
 * @param digestHigh high half of the digest of its rows
 * @param digestLow low half of that digest
 */
public record DumpedFile(
    String name,
    long firstRow,
    long rows,
    long bytes,
    int blocks,
    int indexCrc,
    long digestHigh,
    long digestLow)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** First bytes of each data file: "DDSROWS" and the version of the format. */
  static final long MAGIC = 0x01_53_57_4F_52_53_44_44L;

  static final int MAGIC_BYTES = Long.BYTES;

  /** Size of the entry of a block in the index. */
  static final int ENTRY_BYTES = 3 * Integer.BYTES;

  private static final int MAX_BLOCKS = Integer.MAX_VALUE / ENTRY_BYTES;

  long indexPosition() {
    return bytes - (long) blocks * ENTRY_BYTES;
  }

  long dataBytes() {
    return indexPosition() - MAGIC_BYTES;
  }

  /** Returns an upper limit of the blocks: two that follow each other exceed the size of one. */
  long maxBlocks() {
    return Math.min(2 * (dataBytes() / DumpWriter.BLOCK_BYTES + 1), MAX_BLOCKS);
  }

  /** Returns the index of the row after the last one. */
  long endRow() {
    return firstRow + rows;
  }
}
