// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;

/** An array in an {@link ArrayTree}, read by slices of the first axis, which are rows here. */
interface StoredArray {
  String file();

  /** {@return the path inside the file} */
  String path();

  default FormatException problem(String problem) {
    return FormatException.of(file(), path(), problem);
  }

  ElementType type();

  /** {@return the dimensions; none for a single value} */
  long[] shape();

  /** {@return the number of rows that are decoded together; 1 if each can be read alone} */
  int runRows();

  /**
   * Reads numbers.
   *
   * @param from first row
   * @param count number of rows, at least 1
   * @return the elements, row-major, from position 0 in the order of the buffer; a new buffer
   */
  ByteBuffer bytes(long from, int count) throws IOException;

  /**
   * Reads numbers, into the memory of an earlier read where that is large enough.
   *
   * @param last buffer that an earlier read of this array returned, whose content is lost; or null
   * @return as of {@link #bytes(long, int)}
   */
  default ByteBuffer bytes(long from, int count, ByteBuffer last) throws IOException {
    return bytes(from, count);
  }

  /** Reads texts of an array of one dimension, at least 1. */
  String[] texts(long from, int count) throws IOException;
}
