// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.ShardWriter;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * Rows whose bytes are computed from their global index, so that a reader can verify a row without
 * a copy of it.
 */
record PatternRows(int rowBytes) implements Serializable {
  private static final long serialVersionUID = 1L;
  static final String FIELD = "row";
  private static final long STEP = 0x9E3779B97F4A7C15L;

  Schema schema() {
    return Schema.of(Field.fixed(FIELD, org.ddstore.types.DType.UINT8, rowBytes));
  }

  void write(long firstRow, int rows, ShardWriter writer) {
    ByteBuffer record = ByteBuffer.allocate(rowBytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = 0; row < rows; row++) {
      fill(firstRow + row, record.clear());
      writer.appendPacked(record.clear());
    }
  }

  byte[] row(long index) {
    byte[] bytes = new byte[rowBytes];
    fill(index, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    return bytes;
  }

  private void fill(long index, ByteBuffer record) {
    long state = index * STEP;
    int at = 0;
    for (; at + Long.BYTES <= rowBytes; at += Long.BYTES) {
      state += STEP;
      record.putLong(at, mix(state));
    }
    for (; at < rowBytes; at++) {
      record.put(at, (byte) index);
    }
  }

  /** Returns whether the bytes at a position are the row of an index. */
  boolean matches(long index, ByteBuffer memory, int position) {
    long state = index * STEP;
    long difference = 0;
    int at = 0;
    for (; at + Long.BYTES <= rowBytes; at += Long.BYTES) {
      state += STEP;
      difference |= memory.getLong(position + at) ^ mix(state);
    }
    for (; at < rowBytes; at++) {
      difference |= memory.get(position + at) ^ (byte) index;
    }
    return difference == 0;
  }

  /** The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable PRNGs, 2014). */
  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
