// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InputStream;

/** A function that reads one stream of a checkpoint. */
@FunctionalInterface
public interface StreamReader {
  /**
   * Reads the stream.
   *
   * @param in bytes of the stream, with verified checksums
   * @throws IOException if the bytes cannot be read
   */
  void read(InputStream in) throws IOException;
}
