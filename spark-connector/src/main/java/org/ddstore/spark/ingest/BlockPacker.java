// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.spark.types.PackedVector;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A packer of blocks of rows into records, column by column. Not thread-safe. */
final class BlockPacker {
  private final Place[] fields;
  private final ByteBuffer[] values;
  private final int recordBytes;
  private byte[] records = {};

  private BlockPacker(int recordBytes, Place... fields) {
    this.recordBytes = recordBytes;
    this.fields = fields;
    this.values = new ByteBuffer[fields.length];
  }

  /**
   * Returns a packer; empty if the columns cannot be copied in blocks, whatever the batches are.
   */
  static Optional<BlockPacker> of(Schema schema, Column... columns) {
    int recordBytes = schema.isFixed() ? schema.fixedBytes() : 0;
    if (recordBytes == 0 || recordBytes > Schema.MAX_RECORD_BYTES) {
      return Optional.empty();
    }
    Place[] fields = new Place[columns.length];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = columns[i].packed(schema);
      if (fields[i] == null) {
        return Optional.empty();
      }
    }
    return Optional.of(new BlockPacker(recordBytes, fields));
  }

  /**
   * Returns the records of a block, valid until the next call; null if a vector does not have its
   * values packed.
   */
  ByteBuffer pack(RowBlocks.Block block) {
    if ((long) recordBytes * block.rows() > Schema.MAX_RECORD_BYTES || !take(block.batch())) {
      return null;
    }
    int from = block.from();
    int rows = block.rows();
    if (fields.length == 1) {
      return values[0].slice(values[0].position() + from * recordBytes, rows * recordBytes);
    }
    if (records.length < rows * recordBytes) {
      records = new byte[rows * recordBytes];
    }
    for (int i = 0; i < fields.length; i++) {
      copy(values[i], from, rows, fields[i]);
    }
    return ByteBuffer.wrap(records, 0, rows * recordBytes);
  }

  private boolean take(ColumnarBatch batch) {
    for (int i = 0; i < fields.length; i++) {
      Place field = fields[i];
      ByteBuffer packed =
          batch.column(field.ordinal()) instanceof PackedVector vector
              ? vector.packed(field.type(), field.elements())
              : null;
      if (packed == null) {
        return false;
      }
      if (packed.remaining() != (long) batch.numRows() * field.bytes()) {
        throw new IllegalStateException(
            "%,d bytes instead of %,d values of %,d bytes"
                .formatted(packed.remaining(), batch.numRows(), field.bytes()));
      }
      values[i] = packed;
    }
    return true;
  }

  private void copy(ByteBuffer from, int first, int rows, Place field) {
    int bytes = field.bytes();
    int source = from.position() + first * bytes;
    int target = field.place();
    for (int row = 0; row < rows; row++) {
      from.get(source, records, target, bytes);
      source += bytes;
      target += recordBytes;
    }
  }

  /**
   * The place in a record of a column whose values may be {@link PackedVector packed}.
   *
   * @param ordinal ordinal of the column in a row
   * @param place offset in the record
   */
  record Place(int ordinal, int place, DType type, int elements) {
    /** Returns the place of a column; null if it is in a struct, or its field is ragged. */
    static Place of(ColumnPath path, Schema schema) {
      int index = schema.indexOf(path.name());
      Field field = schema.field(index);
      return path.names().size() > 1 || field.isRagged()
          ? null
          : new Place(path.top(), schema.fixedOffset(index), field.dtype(), field.elements());
    }

    int bytes() {
      return elements * type.bytes();
    }
  }
}
