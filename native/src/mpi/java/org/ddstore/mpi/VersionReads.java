// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import mpi.MPIException;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.transport.PeerRows;

/** The version words of the segments of one read. */
final class VersionReads implements AutoCloseable {
  private final GrowingBuffer memory = new GrowingBuffer();
  private final List<KnownShard> shards = new ArrayList<>();
  private ByteBuffer words;

  /** Selects the segments that contain these rows. */
  void choose(List<PeerRows> peers, Function<Nonce, KnownShard> known) {
    shards.clear();
    for (PeerRows rows : peers) {
      int last = -1;
      for (int run = 0; run < rows.runs(); run++) {
        if (rows.segmentNumber(run) != last) {
          last = rows.segmentNumber(run);
          shards.add(known.apply(rows.segment(run).nonce()));
        }
      }
    }
    words = memory.ensure((long) shards.size() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns whether a segment's version is unknown: never read, or read during a change. */
  boolean anyUnknown() {
    return shards.stream().anyMatch(shard -> shard.version == KnownShard.UNKNOWN);
  }

  void readAll(WindowGets gets) throws MPIException {
    for (int i = 0; i < shards.size(); i++) {
      KnownShard shard = shards.get(i);
      gets.begin(words, i * Long.BYTES);
      gets.add(shard.windows().version(), shard.rank(), 0, Long.BYTES);
    }
  }

  /**
   * Compares the versions from {@link #readAll} with the known ones, and stores them.
   *
   * @return true if no row has changed since, and none is being changed
   */
  boolean areUnchanged() {
    boolean unchanged = true;
    for (int i = 0; i < shards.size(); i++) {
      KnownShard shard = shards.get(i);
      long version = words.getLong(i * Long.BYTES);
      boolean stable = (version & 1) == 0;
      unchanged &= stable && version == shard.version;
      shard.version = stable ? version : KnownShard.UNKNOWN;
    }
    return unchanged;
  }

  long memoryBytes() {
    return memory.buffer().capacity();
  }

  /** Gives up memory that MPI may still write to. */
  OffHeapBuffer abandon() {
    return memory.abandon();
  }

  @Override
  public void close() {
    memory.close();
  }
}
