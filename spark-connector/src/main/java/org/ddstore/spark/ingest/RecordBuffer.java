// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.Schema;

/**
 * A buffer for one packed record. Fixed fields and lengths are put at their offsets; the data of
 * ragged fields is appended in field order.
 */
final class RecordBuffer {
  private static final int SLACK_BYTES = 1024;

  private final int prefixBytes;
  private final int firstBytes;
  private final Wording wording;
  private byte[] bytes;
  private ByteBuffer view;
  private int end;
  private long row;

  RecordBuffer(Schema schema, Wording wording) {
    this.wording = wording;
    prefixBytes = schema.prefixBytes();
    firstBytes = prefixBytes + (schema.isFixed() ? 0 : SLACK_BYTES);
  }

  private void resize(int capacity) {
    bytes = bytes == null ? new byte[capacity] : Arrays.copyOf(bytes, capacity);
    view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Starts the record of a row and overwrites the previous record. */
  void begin(long globalRow) {
    row = globalRow;
    end = prefixBytes;
    if (view == null) { // not before the source has read a row, and may have refused its size
      resize(firstBytes);
    }
    view.clear();
  }

  long row() {
    return row;
  }

  Wording wording() {
    return wording;
  }

  /** Reserves {@code length} more bytes of ragged data and returns their offset. */
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

  /** Returns the backing array, which {@link #append} can replace. */
  byte[] bytes() {
    return bytes;
  }

  /** Returns the little-endian buffer for absolute puts, which {@link #append} can replace. */
  ByteBuffer view() {
    return view;
  }

  /** Returns the finished record from position to limit; valid until the next {@link #begin}. */
  ByteBuffer end() {
    return view.limit(end).position(0);
  }
}
