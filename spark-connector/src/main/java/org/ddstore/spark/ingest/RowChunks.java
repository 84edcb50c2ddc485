package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;

/**
 * Unsafe rows packed into byte arrays, which Spark stores and sends in one piece each: one object
 * per hundreds of rows, and a bounded one.
 *
 * <pre>
 * int32 rows | { int32 bytes | row } ...
 * </pre>
 */
final class RowChunks {
  private static final int CHUNK_BYTES = 256 << 10;

  private RowChunks() {}

  static int rows(byte[] chunk) {
    return ByteBuffer.wrap(chunk).getInt(0);
  }

  /** Packs the rows of a partition. */
  static final class Packer extends AbstractIterator<byte[]> {
    private final scala.collection.Iterator<InternalRow> rows;
    private final int fields;
    private ByteBuffer buffer = ByteBuffer.allocate(CHUNK_BYTES);

    Packer(scala.collection.Iterator<InternalRow> rows, int fields) {
      this.rows = rows;
      this.fields = fields;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public byte[] next() {
      int count = 0;
      buffer.clear().putInt(0);
      do {
        UnsafeRow row = (UnsafeRow) rows.next();
        if (row.numFields() != fields) {
          throw new IllegalStateException(row.numFields() + " fields instead of " + fields);
        }
        put(row);
        count++;
      } while (buffer.position() < CHUNK_BYTES && rows.hasNext());
      byte[] chunk = new byte[buffer.putInt(0, count).position()];
      buffer.get(0, chunk);
      if (buffer.capacity() > 4 * CHUNK_BYTES) {
        buffer = ByteBuffer.allocate(CHUNK_BYTES);
      }
      return chunk;
    }

    private void put(UnsafeRow row) {
      int size = row.getSizeInBytes();
      if (buffer.remaining() < Integer.BYTES + size) {
        long capacity = Math.max(2L * buffer.capacity(), buffer.position() + 4L + size);
        buffer =
            ByteBuffer.allocate((int) Math.min(capacity, Integer.MAX_VALUE - 16))
                .put(buffer.flip());
      }
      buffer.putInt(size);
      row.writeToMemory(buffer.array(), Platform.BYTE_ARRAY_OFFSET + (long) buffer.position());
      buffer.position(buffer.position() + size);
    }
  }

  /** Reads packed rows; skips by chunk. */
  static final class Reader implements RowReader {
    private final scala.collection.Iterator<?> chunks;
    private final UnsafeRow row;
    private ByteBuffer chunk = ByteBuffer.allocate(0);
    private int left;

    Reader(scala.collection.Iterator<?> chunks, int fields) {
      this.chunks = chunks;
      this.row = new UnsafeRow(fields);
    }

    @Override
    public boolean hasNext() {
      while (left == 0) {
        if (!chunks.hasNext()) {
          return false;
        }
        chunk = ByteBuffer.wrap((byte[]) chunks.next());
        left = chunk.getInt();
      }
      return true;
    }

    @Override
    public InternalRow next() {
      int size = chunk.getInt();
      row.pointTo(chunk.array(), Platform.BYTE_ARRAY_OFFSET + (long) chunk.position(), size);
      chunk.position(chunk.position() + size);
      left--;
      return row;
    }

    @Override
    public long skip(long rows) {
      long skipped = 0;
      while (skipped < rows && hasNext()) {
        if (rows - skipped >= left) {
          skipped += left;
          left = 0;
        } else {
          chunk.position(chunk.position() + Integer.BYTES + chunk.getInt(chunk.position()));
          left--;
          skipped++;
        }
      }
      return skipped;
    }
  }
}
