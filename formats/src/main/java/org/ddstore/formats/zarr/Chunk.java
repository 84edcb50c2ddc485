// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.nio.ByteBuffer;

/**
 * A decoded chunk.
 *
 * @param elements a buffer of numbers from position 0 in its byte order, or a {@code String[]}
 * @param strides distance of neighbours of each axis in elements; all 0 if there is one element,
 *     which all places of the chunk have
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Chunk(Object elements, int... strides) {
  private static final int TEXT_BYTES = 64;

  /** Returns the size in memory in bytes; a guess for texts. */
  long bytes() {
    return elements instanceof ByteBuffer numbers
        ? numbers.capacity()
        : (long) TEXT_BYTES * ((String[]) elements).length;
  }
}
