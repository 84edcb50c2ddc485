package org.ddstore.transport;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of one batch that memory does not reach, by the process that serves them. Reused from
 * batch to batch.
 */
final class RemoteRows {
  /** More rows than this need more than one window. */
  static final int MAX_WINDOW_ROWS = 1 << 20;

  private static final int INDEX_BITS = 63;

  private final List<PeerRows> all = new ArrayList<>();
  private final List<PeerRows> touched = new ArrayList<>();
  private int bits;
  private long plan;

  /** Of how many rows a window may consist, so that a key holds index and position. */
  static int windowRows(long rows) {
    int free = INDEX_BITS - (Long.SIZE - Long.numberOfLeadingZeros(rows));
    return (int) Math.min(MAX_WINDOW_ROWS, 1L << Math.max(0, free));
  }

  void begin(int count) {
    touched.clear();
    plan++;
    bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, count - 1));
  }

  void add(Placement placement, int extent, int position, long index) {
    int peer = placement.peer(extent);
    while (all.size() <= peer) {
      all.add(new PeerRows(placement.peerAddress(all.size())));
    }
    PeerRows rows = all.get(peer);
    if (rows.beginsIn(plan)) {
      touched.add(rows);
    }
    rows.add(index << bits | position);
  }

  List<PeerRows> arrange(Placement placement) {
    for (PeerRows rows : touched) {
      rows.arrange(placement, bits);
    }
    return touched;
  }

  void place(ReadPlan plan) {
    for (PeerRows rows : touched) {
      rows.place(plan, bits);
    }
  }

  boolean isEmpty() {
    return touched.isEmpty();
  }

  void free() {
    all.forEach(PeerRows::free);
  }
}
