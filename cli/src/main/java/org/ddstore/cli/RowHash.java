// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A hash of a row, which lets two sides compare it without sending it: the first 128 bits of the
 * SHA-256 of all columns, where each column is its number of elements followed by their
 * little-endian bytes. Not thread-safe.
 */
final class RowHash {
  static final int BYTES = 16;

  private static final int FIRST_CAPACITY = 4096;

  private final MessageDigest digest;
  private final byte[] full;
  private ByteBuffer row = allocate(FIRST_CAPACITY);

  RowHash() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
    full = new byte[digest.getDigestLength()];
  }

  private static ByteBuffer allocate(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the little-endian buffer with room for {@code bytes} more; write at its position. */
  ByteBuffer room(long bytes) {
    if (bytes > row.remaining()) {
      long capacity = Math.max(2L * row.capacity(), row.position() + bytes);
      ByteBuffer larger = allocate((int) Math.min(capacity, Integer.MAX_VALUE - Long.BYTES));
      larger.put(row.flip());
      row = larger;
    }
    return row;
  }

  /** Begins a column whose number of elements is not known yet; end it by {@link #endColumn}. */
  int beginColumn() {
    int start = room(Integer.BYTES).position();
    row.position(start + Integer.BYTES);
    return start;
  }

  void endColumn(int start, int elements) {
    row.putInt(start, elements);
  }

  /** Writes the hash of the row to {@code target} at {@code offset}, and begins the next row. */
  void finish(byte[] target, int offset) {
    try {
      digest.update(row.flip());
      digest.digest(full, 0, full.length);
    } catch (DigestException e) {
      throw new IllegalStateException("the array has the digest's length", e);
    }
    System.arraycopy(full, 0, target, offset, BYTES);
    row.clear();
  }

  /**
   * A vector in a common form for dense and sparse vectors: its size, then index and value of each
   * entry with nonzero bits, in order.
   */
  static final class VectorEntries {
    private final RowHash hash;
    private int count;

    VectorEntries(RowHash hash, int size) {
      this.hash = hash;
      hash.room(Integer.BYTES).putInt(size);
    }

    void add(int index, double value) {
      long bits = Double.doubleToRawLongBits(value);
      if (bits != 0) {
        hash.room(Integer.BYTES + Long.BYTES).putInt(index).putLong(bits);
        count++;
      }
    }

    int count() {
      return count;
    }
  }
}
