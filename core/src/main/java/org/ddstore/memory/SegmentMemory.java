// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

/** The memory that holds the bytes of a segment. */
interface SegmentMemory extends AutoCloseable {
  String location();

  /** Returns the path of the file if other processes may map it, else null. */
  String path();

  boolean isOwned();

  /** Returns whether pages may have to be read from a disk. */
  boolean isPaged();

  /** Deletes the file names that other processes could open; keeps the bytes. Idempotent. */
  void unlink();

  /** Unlinks and frees the memory. Idempotent; called when the last reference is released. */
  @Override
  void close();
}
