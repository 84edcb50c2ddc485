package org.ddstore.memory;

/** What holds the bytes of a segment. */
interface SegmentMemory extends AutoCloseable {
  String location();

  /** The file's path if other processes may map it, else null. */
  String path();

  boolean isOwned();

  /** True if its pages may have to be read from a disk. */
  boolean isPaged();

  /** Removes the name of what others could open; keeps the bytes. Idempotent. */
  void unlink();

  /** Unlinks and frees. Idempotent; called by the last reference. */
  @Override
  void close();
}
