// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.types.Schema;

/**
 * The header of a segment file, little-endian. The specification for other programs is
 * docs/segment-format.md.
 *
 * <pre>
 *   0  u64  magic "DDSTSEG1", written last
 *   8  u32  format version, 1
 *  12  u32  header bytes: where the data begin, a multiple of 4096
 *  16  u128 nonce
 *  32  u64  rows
 *  40  u64  data bytes
 *  48  u32  bytes of a record, 0 if records differ
 *  52  u32  log2 of the rows of a chunk (fixed records), else 0
 *  56  u32  bytes of the schema
 *  64  u64  version word: even when stable, odd while rows are being changed
 *  72  u64  boot id of the host that made the file
 *  80  u64  gone word: 0; 1 once the store is dropped, and the version word stays odd then
 *  88  u64  global index of the first row, 0 without a store
 *  96  u32  rank, 0 without a store
 * 104  u128 id of the store, 0 without one
 * 128  ..   schema
 * </pre>
 */
record SegmentHeader(
    Nonce nonce,
    BootId host,
    int headerBytes,
    long rows,
    long dataBytes,
    int rowShift,
    Schema schema) {
  static final int PAGE_BYTES = 4096;
  static final int VERSION_POSITION = 64;
  static final int GONE_POSITION = 80;
  static final int FIRST_ROW_POSITION = 88;
  static final int RANK_POSITION = 96;
  static final int STORE_POSITION = 104;
  private static final int HOST_POSITION = 72;
  private static final int SCHEMA_POSITION = 128;
  private static final int FORMAT_VERSION = 1;
  private static final long MAGIC = 0x3147455354534444L;

  static int bytesFor(Schema schema) {
    int used = SCHEMA_POSITION + schema.toBytes().length;
    return (used + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  ByteBuffer encode() {
    ByteBuffer out = ByteBuffer.allocate(headerBytes).order(ByteOrder.LITTLE_ENDIAN);
    byte[] encodedSchema = schema.toBytes();
    out.putLong(0, MAGIC);
    out.putInt(8, FORMAT_VERSION);
    out.putInt(12, headerBytes);
    nonce.write(out, 16);
    out.putLong(32, rows);
    out.putLong(40, dataBytes);
    out.putInt(48, schema.isFixed() ? schema.fixedBytes() : 0);
    out.putInt(52, rowShift);
    out.putInt(56, encodedSchema.length);
    out.putLong(HOST_POSITION, host.bits());
    out.put(SCHEMA_POSITION, encodedSchema);
    return out;
  }

  /**
   * @param in little-endian buffer of at least one page
   * @throws IllegalArgumentException if the bytes are not a header of this format version
   */
  static SegmentHeader decode(ByteBuffer in) {
    if (in.limit() < PAGE_BYTES || in.getLong(0) != MAGIC) {
      throw new IllegalArgumentException("not a sealed segment file");
    }
    if (in.getInt(8) != FORMAT_VERSION) {
      throw new IllegalArgumentException(
          "segment format version %d; this program reads %d"
              .formatted(in.getInt(8), FORMAT_VERSION));
    }
    int headerBytes = in.getInt(12);
    int schemaBytes = in.getInt(56);
    if (schemaBytes < 0 || schemaBytes > in.limit() - SCHEMA_POSITION) {
      throw new IllegalArgumentException("schema of %d bytes is cut off".formatted(schemaBytes));
    }
    Schema schema =
        Schema.parse(in.slice(SCHEMA_POSITION, schemaBytes).order(ByteOrder.LITTLE_ENDIAN));
    SegmentHeader header =
        new SegmentHeader(
            Nonce.read(in, 16),
            new BootId(in.getLong(HOST_POSITION)),
            headerBytes,
            in.getLong(32),
            in.getLong(40),
            in.getInt(52),
            schema);
    if (!header.isConsistent() || in.getInt(48) != (schema.isFixed() ? schema.fixedBytes() : 0)) {
      throw new IllegalArgumentException("segment header contradicts itself: " + header);
    }
    return header;
  }

  private boolean isConsistent() {
    if (rows < 0
        || dataBytes < 0
        || dataBytes > Long.MAX_VALUE - bytesFor(schema)
        || headerBytes != bytesFor(schema)) {
      return false;
    }
    if (!schema.isFixed()) {
      return rowShift == 0;
    }
    int recordBytes = schema.fixedBytes();
    return rowShift >= 0
        && rowShift <= ChunkLayout.rowShift(schema, ChunkLayout.MAX_BYTES)
        && dataBytes % recordBytes == 0
        && dataBytes / recordBytes == rows;
  }
}
