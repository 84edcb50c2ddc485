// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.function.Function;
import mpi.MPIException;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.transport.PeerRows;

/** The reads of fixed records: one piece per run of rows and chunk. */
final class FixedReads {
  private FixedReads() {}

  /** Posts the reads of all rows into their staging memory. */
  static void post(WindowGets gets, PeerRows rows, Function<Nonce, KnownShard> shards)
      throws MPIException {
    gets.begin(rows.reserve(), 0);
    for (int run = 0; run < rows.runs(); run++) {
      KnownShard shard = shards.apply(rows.segment(run).nonce());
      RecordLayout layout = shard.layout();
      long row = rows.firstRow(run);
      int left = rows.firstSlot(run + 1) - rows.firstSlot(run);
      while (left > 0) {
        long place = layout.place(row);
        int now = (int) Math.min(left, layout.rowsToChunkEnd(row));
        gets.add(
            shard.windows().chunk(Segment.chunkOf(place)),
            shard.rank(),
            Segment.positionOf(place),
            now * layout.recordBytes());
        row += now;
        left -= now;
      }
    }
  }
}
