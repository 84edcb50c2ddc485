// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Function;
import mpi.MPIException;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.DDStoreException;

/** The reads of ragged records: each run's offsets and end, then the contiguous records. */
final class OffsetReads implements AutoCloseable {
  private final GrowingBuffer memory = new GrowingBuffer();
  private ByteBuffer entries;
  private int next;

  void read(WindowGets gets, List<PeerRows> peers, Function<Nonce, KnownShard> shards)
      throws MPIException {
    long count = peers.stream().mapToLong(rows -> (long) rows.rows() + rows.runs()).sum();
    entries = memory.ensure(count * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    gets.begin(entries, 0);
    for (PeerRows rows : peers) {
      for (int run = 0; run < rows.runs(); run++) {
        KnownShard shard = shards.apply(rows.segment(run).nonce());
        int offsets = rows.firstSlot(run + 1) - rows.firstSlot(run) + 1;
        for (int i = 0; i < offsets; i++) { // adjacent offsets are joined into one piece
          long place = shard.layout().offsetPlace(rows.firstRow(run) + i);
          gets.add(
              shard.windows().offsets(Segment.chunkOf(place)),
              shard.rank(),
              Segment.positionOf(place),
              Long.BYTES);
        }
      }
    }
    next = 0;
  }

  /** Sets the lengths that follow from the offsets; for peers in the order of {@link #read}. */
  void setLengths(PeerRows rows) {
    for (int run = 0; run < rows.runs(); run++) {
      for (int slot = rows.firstSlot(run); slot < rows.firstSlot(run + 1); slot++) {
        long length = entry(next + 1) - entry(next);
        if (length < 0 || length > Integer.MAX_VALUE) {
          throw new DDStoreException(
              "a row of rank %d has %,d bytes".formatted(rows.segment(run).rank(), length));
        }
        rows.setLength(slot, (int) length);
        next++;
      }
      next++;
    }
  }

  /** Posts the reads of the records; after {@link #setLengths} for all peers. */
  void readData(WindowGets gets, List<PeerRows> peers, Function<Nonce, KnownShard> shards)
      throws MPIException {
    int at = 0;
    for (PeerRows rows : peers) {
      gets.begin(rows.reserve(), 0);
      for (int run = 0; run < rows.runs(); run++) {
        KnownShard shard = shards.apply(rows.segment(run).nonce());
        RecordLayout layout = shard.layout();
        for (int slot = rows.firstSlot(run); slot < rows.firstSlot(run + 1); slot++) {
          long length = entry(at + 1) - entry(at);
          if (length > 0) {
            long place = layout.placeOfOffset(entry(at));
            gets.add(
                shard.windows().chunk(Segment.chunkOf(place)),
                shard.rank(),
                Segment.positionOf(place),
                (int) length);
          }
          at++;
        }
        at++;
      }
    }
  }

  private long entry(int index) {
    return entries.getLong(index * Long.BYTES);
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
