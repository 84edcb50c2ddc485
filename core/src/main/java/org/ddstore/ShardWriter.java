// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Schema;

/**
 * A writer that builds a rank's shard of a variable record by record, in bounded memory: the
 * records, 8 bytes for each ragged record, and a few MiB. {@link DDStore#add(String, ShardWriter)}
 * makes the shard part of a store and takes ownership of the memory; closing the writer earlier
 * frees it. Local; one thread.
 */
public final class ShardWriter implements AutoCloseable {
  private static final AtomicLong SHARDS = new AtomicLong();

  private final SegmentWriter writer;
  private final RecordPacker packer;

  private ShardWriter(SegmentWriter writer) {
    this.writer = writer;
    this.packer = new RecordPacker(writer.schema());
  }

  /**
   * Creates a writer of records of {@code schema} into new memory.
   *
   * @param schema fields of the records
   * @param options memory of the records
   * @return the writer; the caller closes it, or passes it to a store
   * @throws DDStoreException if the memory cannot be allocated
   */
  public static ShardWriter create(Schema schema, StoreOptions options) {
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(options, "options is null");
    String name = "shard-" + SHARDS.incrementAndGet();
    return new ShardWriter(
        SegmentWriter.create(options.backing(), options.directory(), name, schema));
  }

  /** {@return the fields of the records} */
  public Schema schema() {
    return writer.schema();
  }

  /** {@return the number of rows appended so far} */
  public long rows() {
    return writer.rows();
  }

  /** {@return the size of the packed records appended so far, in bytes} */
  public long bytes() {
    return writer.bytes();
  }

  /**
   * Appends one record with its values in the order of the schema's fields.
   *
   * @param values for a fixed or ragged field, the matching Java array ({@code float[]}, {@code
   *     byte[]} for 1-byte types, {@code short[]} for 2-byte types, {@code boolean[]}) with all
   *     elements in row-major order, or a boxed number for a scalar; for a string field a {@code
   *     String}; for a bytes field a {@code byte[]}
   * @throws IllegalArgumentException if a value does not fit its field; the message names row,
   *     field and value
   * @throws DDStoreException if the memory is full
   */
  public void append(Object... values) {
    Objects.requireNonNull(values, "values is null");
    writer.append(packer.pack(writer.rows(), values));
  }

  /**
   * Appends one packed record in the layout of {@link Schema}.
   *
   * @param record little-endian record from position to limit; the position advances to the limit
   * @throws IllegalArgumentException if the size contradicts the schema and the lengths, or exceeds
   *     1 GiB; the message names row and bytes
   * @throws DDStoreException if the memory is full
   */
  public void appendPacked(ByteBuffer record) {
    Objects.requireNonNull(record, "record is null");
    writer.append(record);
  }

  /**
   * Appends packed records, one after the other.
   *
   * @param records little-endian records from position to limit; the position advances to the limit
   * @throws IllegalArgumentException if the schema has ragged fields, or if the buffer does not
   *     hold whole records
   * @throws DDStoreException if the memory is full
   */
  public void appendPackedRows(ByteBuffer records) {
    Objects.requireNonNull(records, "records is null");
    writer.appendRows(records);
  }

  /**
   * Appends a copy of packed rows of a variable by one-sided reads. Blocks.
   *
   * @param source variable with the same schema
   * @param firstRow global index of the first row
   * @param count number of rows
   * @throws IndexOutOfBoundsException if the variable does not have all these rows
   */
  public void appendRowsOf(Variable source, long firstRow, long count) {
    Objects.requireNonNull(source, "source is null");
    if (!source.schema().equals(schema())) {
      throw new IllegalArgumentException(
          "rows of %s cannot be appended to %s".formatted(source, this));
    }
    try (RowCopy copy = new RowCopy(source)) {
      copy.copy(firstRow, count, writer::append);
    }
  }

  /** Appends the rows of a tensor; the schema must have one fixed field. */
  void appendRows(Tensor rows) {
    int recordBytes = schema().fixedBytes();
    int pieceRows = Math.max(1, (1 << 20) / recordBytes);
    ByteBuffer piece =
        ByteBuffer.allocate((int) Math.min(rows.rows(), pieceRows) * recordBytes)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (long row = 0; row < rows.rows(); row += pieceRows) {
      int length = (int) Math.min(pieceRows, rows.rows() - row) * recordBytes;
      rows.memory().read(row * recordBytes, piece.clear(), 0, length);
      writer.appendRows(piece.limit(length));
    }
  }

  void appendZeros(long rows) {
    writer.appendZeros(rows);
  }

  Segment seal() {
    return writer.seal();
  }

  /** Frees the memory, unless a store has taken ownership of it. Idempotent. */
  @Override
  public void close() {
    writer.close();
  }

  @Override
  public String toString() {
    return "ShardWriter[%,d rows of %s]".formatted(rows(), schema());
  }
}
