package org.ddstore.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.ProcessAddress;

/**
 * The rows of one batch that memory does not reach, by the process that serves them. Reused from
 * batch to batch.
 */
final class RemoteRows {
  /** More rows than this need more than one window. */
  static final int MAX_WINDOW_ROWS = 1 << 20;

  private static final int INDEX_BITS = 63;

  /** How many times the memory of one plan is kept for the next ones. */
  private static final int KEPT = 2;

  private final List<PeerIndices> all = new ArrayList<>();
  private final List<PeerIndices> touched = new ArrayList<>();
  private final StagingBudget budget = new StagingBudget();
  private int bits;
  private long plan;
  private Placement last;
  private long mostBytes;
  private long placedBytes;

  /** Of how many rows a window may consist, so that a key holds index and position. */
  static int windowRows(long rows) {
    int free = INDEX_BITS - (Long.SIZE - Long.numberOfLeadingZeros(rows));
    return (int) Math.min(MAX_WINDOW_ROWS, 1L << Math.max(0, free));
  }

  /**
   * The memory that so many rows of a fixed size take at most, in bytes, for plans of no more.
   *
   * @param rows of a plan
   */
  static long mostStagingBytes(Placement where, long rows, long recordBytes) {
    long bytes = rows * recordBytes;
    long peers = Math.min(where.peersWithRows(), rows);
    return peers <= 1
        ? peers * GrowingBuffer.capacityFor(bytes)
        : KEPT * (GrowingBuffer.capacityFor(bytes) + (peers - 1) * GrowingBuffer.capacityFor(0));
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
      if (peer >= where.peers()
          || !all.get(peer).rows().process().equals(where.peerAddress(peer))) {
        List<PeerIndices> moved = all.subList(peer, all.size());
        moved.forEach(indices -> indices.rows().free());
        moved.clear();
      }
    }
  }

  Set<ProcessAddress> goneProcesses() {
    return processes(PeerRows::isGone);
  }

  Set<ProcessAddress> silentProcesses() {
    return processes(PeerRows::isSilent);
  }

  private Set<ProcessAddress> processes(Predicate<PeerRows> which) {
    return touched.stream()
        .map(PeerIndices::rows)
        .filter(which)
        .map(PeerRows::process)
        .collect(Collectors.toSet());
  }

  void add(Placement placement, int extent, int position, long index) {
    int peer = placement.peer(extent);
    while (all.size() <= peer) {
      all.add(new PeerIndices(new PeerRows(placement.peerAddress(all.size()), budget)));
    }
    PeerIndices indices = all.get(peer);
    if (indices.beginsIn(plan)) {
      touched.add(indices);
    }
    indices.add(index << bits | position);
  }

  /**
   * The rows, to be fetched.
   *
   * @param stagingBytes that ragged records may take together
   */
  List<PeerRows> arrange(Placement placement, long stagingBytes) {
    budget.begin(stagingBytes);
    for (PeerIndices indices : touched) {
      indices.arrange(placement, bits);
    }
    trim();
    return touched.stream().map(PeerIndices::rows).toList();
  }

  /**
   * Frees what is kept beyond {@link #KEPT} times the memory of the largest plan. Each process has
   * as much as its largest share of any plan took; plans that read one process after the other
   * would in the end hold as much for each as they need for one.
   */
  private void trim() {
    long needed = 0;
    long held = 0;
    for (PeerIndices indices : all) {
      long own = indices.neededBytes(plan);
      needed += own;
      held += Math.max(indices.rows().stagingBytes(), own);
    }
    noteMost(needed);
    if (held > KEPT * mostBytes) {
      for (PeerIndices indices : all) {
        indices
            .rows()
            .shrink(indices.neededBytes(plan)); // ragged ones grow again when their lengths come
      }
    }
  }

  private void noteMost(long bytes) {
    mostBytes = Math.max(mostBytes, bytes);
  }

  /** The memory that rows come to, in bytes. */
  long stagingBytes() {
    return all.stream().map(PeerIndices::rows).mapToLong(PeerRows::stagingBytes).sum();
  }

  void place(ReadPlan target) {
    long bytes = 0;
    for (PeerIndices indices : touched) {
      indices.place(target, bits);
      PeerRows rows = indices.rows();
      placedBytes += rows.start(rows.rows());
      bytes += GrowingBuffer.capacityFor(rows.start(rows.rows()));
    }
    noteMost(bytes);
  }

  /** How many of the first rows of the plan fit in so many bytes, by the lengths that are known. */
  int rowsWithin(int count, long limitBytes) {
    long[] bytes = new long[count];
    touched.forEach(indices -> indices.lengths(bytes, bits));
    long sum = 0;
    int fitting = 0;
    while (fitting < count && sum + bytes[fitting] <= limitBytes) {
      sum += bytes[fitting++];
    }
    return fitting;
  }

  /** The bytes of all records that have come so far. */
  long placedBytes() {
    return placedBytes;
  }

  boolean isEmpty() {
    return touched.isEmpty();
  }

  void free() {
    all.forEach(indices -> indices.rows().free());
  }
}
