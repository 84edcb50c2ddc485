package org.ddstore.types;

/** Where the memory of a shard comes from. */
public enum Backing {
  /** Files under /dev/shm, which other processes of this user on this host map. The default. */
  SHM,
  /** Files on a disk path, mapped the same way: for data larger than memory. */
  FILE,
  /**
   * Direct buffers of this process; other processes cannot map them. For containers with a small
   * /dev/shm.
   */
  DIRECT;

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
