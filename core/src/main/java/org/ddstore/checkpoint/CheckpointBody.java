// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;

/** A function that writes the streams of one rank. */
@FunctionalInterface
public interface CheckpointBody {
  /**
   * Writes the streams of this rank, one after the other; a rank may write none.
   *
   * @param to opens the streams
   * @throws IOException if the bytes cannot be written
   */
  void write(CheckpointWriter to) throws IOException;
}
