package org.ddstore.mpi;

/** A segment of another rank, and what a reader knows of it. */
final class KnownShard {
  /** No version has this number. */
  static final long UNKNOWN = -1;

  private final SegmentWindows windows;
  private final int rank;
  private final RecordLayout layout;

  /** The last even one that was read. */
  long version = UNKNOWN;

  KnownShard(WindowTransport.RemoteShard shard) {
    this.windows = shard.windows();
    this.rank = shard.rank();
    this.layout = shard.layout();
  }

  SegmentWindows windows() {
    return windows;
  }

  /** The owner, in the communicator of the windows. */
  int rank() {
    return rank;
  }

  RecordLayout layout() {
    return layout;
  }
}
