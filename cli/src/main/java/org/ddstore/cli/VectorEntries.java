// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

/**
 * A vector in a common form for dense and sparse vectors: its size, then index and value of each
 * entry with nonzero bits, in order.
 */
final class VectorEntries {
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
