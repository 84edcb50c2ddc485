// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Schema;

/**
 * A writer that fills a segment record by record in bounded memory: the records, 8 bytes for each
 * ragged record, and a few MiB. Used by one thread. Closing it before the seal discards the
 * records. A write without room does the same and closes the writer.
 */
public abstract class SegmentWriter implements AutoCloseable {
  private static final int ZEROS_BYTES = 1 << 20;

  private final Schema schema;
  private final ByteBuffer lengths;
  private long rows;
  private long bytes;
  private boolean open = true;

  SegmentWriter(Schema schema) {
    this.schema = schema;
    this.lengths =
        ByteBuffer.allocate(Integer.BYTES * schema.raggedFields()).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Creates a writer into new memory.
   *
   * @param root directory for {@code SHM} and {@code FILE}; ignored for {@code DIRECT}
   * @param name name of the files without suffix, unique in this process
   */
  public static SegmentWriter create(Backing backing, Path root, String name, Schema schema) {
    return backing == Backing.DIRECT
        ? new DirectSegmentWriter(name, schema)
        : FileSegmentWriter.create(root, name, schema);
  }

  public Schema schema() {
    return schema;
  }

  public long rows() {
    return rows;
  }

  public long bytes() {
    return bytes;
  }

  /** Appends whole packed records of a schema without ragged fields. Closes if memory is full. */
  public void appendRows(ByteBuffer records) {
    int size = schema.fixedBytes();
    if (!schema.isFixed() || records.remaining() % size != 0) {
      throw new IllegalArgumentException(
          "buffer of %d bytes does not hold whole fixed records of %s"
              .formatted(records.remaining(), schema));
    }
    checkOpen();
    long count = records.remaining() / size;
    long length = records.remaining();
    orDiscard(() -> write(records));
    rows += count;
    bytes += length;
  }

  /** Runs a write and closes the writer if it fails, because staged records are then lost. */
  private void orDiscard(Runnable write) {
    try {
      write.run();
    } catch (RuntimeException | Error e) {
      try {
        close();
      } catch (DDStoreException onClose) {
        e.addSuppressed(onClose);
      }
      throw e;
    }
  }

  /**
   * Appends one packed record. Position, limit and lengths are read once: even if another thread
   * changes the buffer during the call, the size of the record matches its lengths.
   *
   * @param record record from position to limit; the position advances to the limit
   * @throws IllegalArgumentException if the size contradicts the schema and the lengths, or exceeds
   *     1 GiB
   * @throws DDStoreException if the memory is full; the writer is then closed
   */
  public void append(ByteBuffer record) {
    checkOpen();
    ByteBuffer view = record.duplicate();
    int length = view.remaining();
    if (length > Schema.MAX_RECORD_BYTES) {
      throw new IllegalArgumentException(
          "row %,d has %,d bytes; a record may have at most 1 GiB (%,d)"
              .formatted(rows, length, Schema.MAX_RECORD_BYTES));
    }
    if (schema.isFixed()) {
      if (length != schema.fixedBytes()) {
        throw new IllegalArgumentException(
            "row %,d has %,d bytes; a record of %s has %,d"
                .formatted(rows, length, schema, schema.fixedBytes()));
      }
    } else {
      takeLengths(view, length);
    }
    int end = view.limit();
    orDiscard(
        () -> {
          if (schema.isFixed()) {
            write(view);
          } else {
            beginRecord(bytes, length);
            write(view.limit(view.position() + schema.fixedBytes()));
            write(lengths.clear());
            write(view.limit(end).position(end - length + schema.prefixBytes()));
          }
        });
    rows++;
    bytes += length;
    record.position(end);
  }

  /** Copies the lengths of a record and checks its size against them. */
  private void takeLengths(ByteBuffer record, int length) {
    long expected = schema.prefixBytes();
    if (length >= expected) {
      record.get(record.position() + schema.fixedBytes(), lengths.array());
      expected = schema.recordBytes(lengths, -schema.fixedBytes()); // the copied lengths begin at 0
    }
    if (length != expected) {
      throw new IllegalArgumentException(
          "row %,d has %,d bytes, but its lengths require %,d".formatted(rows, length, expected));
    }
  }

  public void appendZeros(long count) {
    int size = schema.fixedBytes();
    if (!schema.isFixed() || count < 0) {
      throw new IllegalArgumentException("cannot append " + count + " rows of zeros to " + schema);
    }
    checkOpen();
    long length = Math.multiplyExact(count, size);
    ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(length, ZEROS_BYTES));
    orDiscard(
        () -> {
          for (long left = length; left > 0; left -= zeros.limit()) {
            write(zeros.clear().limit((int) Math.min(left, zeros.capacity())));
          }
        });
    rows += count;
    bytes += length;
  }

  /** Seals and registers the segment; the caller owns its one reference. */
  public Segment seal() {
    checkOpen();
    open = false;
    try {
      Segment segment = finish(rows, bytes);
      SegmentRegistry.publish(segment);
      return segment;
    } catch (IOException e) {
      discard();
      throw noRoom(e);
    } catch (RuntimeException | Error e) {
      discard();
      throw e;
    }
  }

  /** Discards the records if they were not sealed. Idempotent. */
  @Override
  public void close() {
    if (open) {
      open = false;
      discard();
    }
  }

  private void checkOpen() {
    if (!open) {
      throw new IllegalStateException("closed: " + this);
    }
  }

  /** Appends the bytes from position to limit to the stream of records. */
  abstract void write(ByteBuffer records);

  /** Begins a ragged record of {@code length} bytes at a stream offset. */
  abstract void beginRecord(long offset, int length);

  abstract Segment finish(long rowCount, long byteCount) throws IOException;

  abstract void discard();

  abstract String location();

  private static String reason(IOException cause) {
    return cause instanceof ClosedByInterruptException ? "interrupted" : cause.getMessage();
  }

  final DDStoreException noRoom(IOException cause) {
    return new DDStoreException(
        "cannot write row %,d (%,d bytes so far) to %s: %s"
            .formatted(rows, bytes, location(), reason(cause)),
        cause);
  }

  @Override
  public String toString() {
    return "SegmentWriter[%,d rows, %,d bytes, %s]".formatted(rows, bytes, location());
  }
}
