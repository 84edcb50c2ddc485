// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

/** A segment of another rank, with the version that a reader has seen last. */
final class KnownShard {
  /** Number that no version has. */
  static final long UNKNOWN = -1;

  private final SegmentWindows windows;
  private final int rank;
  private final RecordLayout layout;

  /** The last even version that was read. */
  long version = UNKNOWN;

  KnownShard(WindowTransport.RemoteShard shard) {
    this.windows = shard.windows();
    this.rank = shard.rank();
    this.layout = shard.layout();
  }

  SegmentWindows windows() {
    return windows;
  }

  /** Returns the rank of the owner in the communicator of the windows. */
  int rank() {
    return rank;
  }

  RecordLayout layout() {
    return layout;
  }
}
