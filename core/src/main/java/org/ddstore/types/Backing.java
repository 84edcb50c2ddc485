// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** The source of the memory of a shard. */
public enum Backing {
  /** Files under /dev/shm that other processes of this user on this host map. The default. */
  SHM,
  /** Files under a disk path, mapped in the same way. For data larger than memory. */
  FILE,
  /** Direct buffers, which other processes cannot map. For a small /dev/shm. */
  DIRECT;

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
