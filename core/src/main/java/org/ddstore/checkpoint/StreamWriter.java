// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.OutputStream;

/** A function that writes one stream of a checkpoint. */
@FunctionalInterface
public interface StreamWriter {
  /**
   * Writes the stream.
   *
   * @param out receives the bytes; flush a buffered stream around it, and leave {@code out} open
   * @throws IOException if the bytes cannot be written
   */
  void write(OutputStream out) throws IOException;
}
