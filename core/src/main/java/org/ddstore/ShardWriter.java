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
 * Builds a rank's shard of a variable record by record, in bounded memory: the records themselves,
 * 8 bytes more for each ragged one, and a few MiB. {@link DDStore#add(String, ShardWriter)} makes
 * the shard part of a store and takes the memory over; a writer closed before that frees it. Used
 * by one thread; local.
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
   * A writer of records of {@code schema} into new memory.
   *
   * @throws DDStoreException if the memory cannot be had
   */
  public static ShardWriter create(Schema schema, StoreOptions options) {
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(options, "options is null");
    String name = "shard-" + SHARDS.incrementAndGet();
    return new ShardWriter(
        SegmentWriter.create(options.backing(), options.directory(), name, schema));
  }

  public Schema schema() {
    return writer.schema();
  }

  /** Rows appended so far. */
  public long rows() {
    return writer.rows();
  }

  /** Bytes of the packed records appended so far. */
  public long bytes() {
    return writer.bytes();
  }

  /**
   * Appends one record, its values in the order of the schema's fields.
   *
   * @param values for a fixed or ragged field, the matching Java array ({@code float[]}, {@code
   *     byte[]} for 1-byte types, {@code short[]} for 2-byte types, {@code boolean[]}) with all
   *     elements in row-major order, or a boxed number for a scalar; for a string field a {@code
   *     String}; for a bytes field a {@code byte[]}
   * @throws IllegalArgumentException if a value does not fit its field, naming row, field and value
   * @throws DDStoreException if there is no room
   */
  public void append(Object... values) {
    Objects.requireNonNull(values, "values is null");
    writer.append(packer.pack(writer.rows(), values));
  }

  /**
   * Appends one record that is packed already, as {@link Schema} draws it.
   *
   * @param record little-endian, from position to limit, which become equal
   * @throws IllegalArgumentException if its size is not that of its schema and lengths, or above 1
   *     GiB; the message names row and bytes
   * @throws DDStoreException if there is no room
   */
  public void appendPacked(ByteBuffer record) {
    Objects.requireNonNull(record, "record is null");
    writer.append(record);
  }

  /**
   * Appends a copy of rows of a variable, record by record as they are packed, by one-sided reads.
   * Blocks.
   *
   * @param source of the same schema
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

  /** Appends the rows of a tensor to a schema of one fixed field. */
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

  /** Appends {@code rows} records of zeros. */
  void appendZeros(long rows) {
    writer.appendZeros(rows);
  }

  Segment seal() {
    return writer.seal();
  }

  /** Frees the memory, unless a store has taken it over. Idempotent. */
  @Override
  public void close() {
    writer.close();
  }

  @Override
  public String toString() {
    return "ShardWriter[%,d rows of %s]".formatted(rows(), schema());
  }
}
