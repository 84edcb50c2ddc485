package org.ddstore.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.ddstore.ProcessAddress;

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
  private Placement last;

  /** Of how many rows a window may consist, so that a key holds index and position. */
  static int windowRows(long rows) {
    int free = INDEX_BITS - (Long.SIZE - Long.numberOfLeadingZeros(rows));
    return (int) Math.min(MAX_WINDOW_ROWS, 1L << Math.max(0, free));
  }

  void begin(Placement where, int count) {
    touched.clear();
    if (where != last) {
      forgetMoved(where);
      last = where;
    }
    plan++;
    bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, count - 1));
  }

  /** Processes are known by their numbers in a placement, and another one may number them anew. */
  private void forgetMoved(Placement where) {
    for (int peer = 0; peer < all.size(); peer++) {
      if (peer >= where.peers() || !all.get(peer).process().equals(where.peerAddress(peer))) {
        List<PeerRows> moved = all.subList(peer, all.size());
        moved.forEach(PeerRows::free);
        moved.clear();
      }
    }
  }

  Set<ProcessAddress> goneProcesses() {
    return touched.stream()
        .filter(PeerRows::isGone)
        .map(PeerRows::process)
        .collect(Collectors.toSet());
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
