package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.Schema;

/**
 * One packed record under construction. Fixed fields and lengths are put at their places; the data
 * of ragged fields are appended, in the order of the fields.
 */
final class RecordBuffer {
  private static final int SLACK_BYTES = 1024;

  private final int prefixBytes;
  private final Wording wording;
  private byte[] bytes;
  private ByteBuffer view;
  private int end;
  private long row;

  RecordBuffer(Schema schema, Wording wording) {
    this.wording = wording;
    prefixBytes = schema.prefixBytes();
    resize(prefixBytes + (schema.isFixed() ? 0 : SLACK_BYTES));
  }

  private void resize(int capacity) {
    bytes = bytes == null ? new byte[capacity] : Arrays.copyOf(bytes, capacity);
    view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Starts the record of a row; what the last one left is overwritten. */
  void begin(long globalRow) {
    row = globalRow;
    end = prefixBytes;
    view.clear();
  }

  /** The global index of the row. */
  long row() {
    return row;
  }

  /** How messages about the row name remedies. */
  Wording wording() {
    return wording;
  }

  /** Room for {@code length} more bytes of ragged data; gives their place. */
  int append(String column, long length) {
    if (end + length > Schema.MAX_RECORD_BYTES) {
      throw new IngestException(
          column,
          row,
          "the record has %,d bytes or more; a record may have at most 1 GiB (%,d)"
              .formatted(end + length, Schema.MAX_RECORD_BYTES));
    }
    int place = end;
    end += (int) length;
    if (end > bytes.length) {
      resize((int) Math.min(Schema.MAX_RECORD_BYTES, Math.max(end, 2L * bytes.length)));
    }
    return place;
  }

  /** The memory; another array after each {@link #append}. */
  byte[] bytes() {
    return bytes;
  }

  /** The memory, little-endian, for absolute puts; another one after each {@link #append}. */
  ByteBuffer view() {
    return view;
  }

  /** The finished record, from position to limit; valid until the next one begins. */
  ByteBuffer end() {
    return view.limit(end).position(0);
  }
}
