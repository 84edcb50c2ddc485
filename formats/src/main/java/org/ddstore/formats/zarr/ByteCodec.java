// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A codec from bytes to bytes. Has no state. */
@FunctionalInterface
interface ByteCodec {
  /** The limit of a chunk whose decoded size is unknown. */
  int UNKNOWN = Integer.MAX_VALUE - 8;

  /**
   * Decodes a chunk.
   *
   * @param encoded buffer on the heap; its content must not be changed
   * @param limit largest legal size of the result in bytes, or {@link #UNKNOWN}
   * @return a buffer on the heap, from its position to its limit; may share the bytes of {@code
   *     encoded}
   * @throws IOException if the bytes are damaged
   */
  ByteBuffer decode(ByteBuffer encoded, int limit) throws IOException;
}
