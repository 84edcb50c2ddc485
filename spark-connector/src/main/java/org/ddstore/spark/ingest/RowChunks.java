// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import org.ddstore.spark.types.SourceChangedException;
import scala.collection.AbstractIterator;

/**
 * Unsafe rows packed into byte arrays of bounded size, each of which Spark stores and sends as one
 * object with hundreds of rows.
 *
 * <pre>
 * int64 computation | int32 rows | { int32 bytes | row } ...
 * </pre>
 *
 * <p>The computation is a random number shared by all chunks of one computation of a partition. A
 * partition that is recomputed, after the loss of an executor or by a speculative task, can have
 * its rows in another order, so all readers of its parts must read the same computation.
 */
final class RowChunks {
  private static final int CHUNK_BYTES = 256 << 10;
  private static final int ROWS_AT = Long.BYTES;
  private static final int FIRST_ROW_AT = ROWS_AT + Integer.BYTES;
  private static final SecureRandom RANDOM = new SecureRandom();

  private RowChunks() {}

  private static long drawComputation() {
    long drawn = RANDOM.nextLong();
    return drawn == SourcePartition.REPEATABLE ? 1 : drawn;
  }

  static final class Packer extends AbstractIterator<byte[]> {
    private final scala.collection.Iterator<InternalRow> rows;
    private final int fields;
    private final long computation = drawComputation();
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
      buffer.clear().putLong(computation).position(FIRST_ROW_AT);
      do {
        UnsafeRow row = (UnsafeRow) rows.next();
        if (row.numFields() != fields) {
          throw new IllegalStateException(
              "row has " + row.numFields() + " fields, expected " + fields);
        }
        put(row);
        count++;
      } while (buffer.position() < CHUNK_BYTES && rows.hasNext());
      byte[] chunk = new byte[buffer.putInt(ROWS_AT, count).position()];
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

  /** A reader of packed rows that skips whole chunks. */
  static final class Reader implements RowReader {
    private final scala.collection.Iterator<?> chunks;
    private final UnsafeRow row;
    private final String place;
    private long computation;
    private ByteBuffer chunk = ByteBuffer.allocate(0);
    private int left;

    /**
     * @param source partition whose computation the chunks must have; any if it is not stored yet
     */
    Reader(scala.collection.Iterator<?> chunks, int fields, SourcePartition source) {
      this.chunks = chunks;
      this.row = new UnsafeRow(fields);
      this.place = source.place();
      this.computation = source.computation();
    }

    /** Returns the computation of the chunks after all were read; without chunks, an unused one. */
    long computation() {
      return computation == SourcePartition.REPEATABLE ? drawComputation() : computation;
    }

    @Override
    public boolean hasNext() {
      while (left == 0) {
        if (!chunks.hasNext()) {
          return false;
        }
        open((byte[]) chunks.next());
      }
      return true;
    }

    private void open(byte[] opened) {
      chunk = ByteBuffer.wrap(opened);
      long found = chunk.getLong();
      if (computation == SourcePartition.REPEATABLE) {
        computation = found;
      } else if (found != computation) {
        throw new SourceChangedException(
            "rows of %s were recomputed after the load was planned, because of a lost executor or a speculative task: plan the load again"
                .formatted(place));
      }
      left = chunk.getInt();
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
