// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.file.Path;

/** A reserver of file space, a service, because Java reserves only by writing. Any thread. */
public interface SpaceReserver {
  /**
   * Reserves space before it is written. Unwritten bytes read as zeros; a shorter file grows.
   *
   * @param from position of the first byte
   * @param bytes number of bytes, at least 1
   * @return false if space cannot be reserved here for a reason other than a full file system
   * @throws IOException if the file system is full
   */
  boolean reserve(Path file, long from, long bytes) throws IOException;
}
