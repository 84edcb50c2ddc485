package org.ddstore.memory;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Makes sure that a part of a file has its space before anything is written there: what Java cannot
 * do without writing. Found by {@link java.util.ServiceLoader}; any thread.
 */
public interface SpaceReserver {
  /**
   * Reserves space. What was not written reads as zeros; the file grows where it was shorter.
   *
   * @param from the first byte
   * @param bytes how many, at least 1
   * @return false if it cannot be done here, for a reason that is not the space
   * @throws IOException if there is no such space
   */
  boolean reserve(Path file, long from, long bytes) throws IOException;
}
