// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

/**
 * A chunk in the file.
 *
 * @param address its place
 * @param storedBytes its size in the file
 * @param mask filters that the writer has left out, a bit for each
 */
record Chunk(long address, long storedBytes, int mask) {
  /** {@return the chunk; null if it was never written} */
  static Chunk of(long address, long storedBytes, int mask) {
    return address == Cursor.UNDEFINED ? null : new Chunk(address, storedBytes, mask);
  }
}
