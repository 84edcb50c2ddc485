// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A codec from bytes to bytes. Has no state. */
@FunctionalInterface
interface ByteCodec {
  /**
   * The size of a decoded buffer in bytes.
   *
   * @param bytes the size, or its upper bound
   * @param isExact whether another size is damage. The caller has checked that a task may hold it,
   *     but not that the encoded bytes back it
   */
  record Size(int bytes, boolean isExact) {}

  /**
   * Decodes a chunk.
   *
   * @param encoded buffer on the heap; its content must not be changed
   * @param size size of the result
   * @return a buffer on the heap, from its position to its limit; may share the bytes of {@code
   *     encoded}
   * @throws IOException if the bytes are damaged
   */
  ByteBuffer decode(ByteBuffer encoded, Size size) throws IOException;
}
