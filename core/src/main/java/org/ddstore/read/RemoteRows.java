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
 * The remote rows of one batch, grouped by the process that serves them. Reused for all batches.
 */
final class RemoteRows {
  /** Largest number of rows in one window. */
  static final int MAX_WINDOW_ROWS = 1 << 20;

  private static final int INDEX_BITS = 63;

  /** Multiple of the memory of the largest plan that is kept for later plans. */
  private static final int KEPT = 2;

  private final List<PeerIndices> all = new ArrayList<>();
  private final List<PeerIndices> touched = new ArrayList<>();
  private final List<PeerRows> touchedRows = new ArrayList<>();
  private final StagingBudget budget = new StagingBudget();
  private int bits;
  private long plan;
  private Placement lastPlacement;
  private long mostBytes;
  private long placedBytes;

  /** Returns the largest number of rows in a window for which a key can hold index and position. */
  static int windowRows(long rows) {
    int free = INDEX_BITS - (Long.SIZE - Long.numberOfLeadingZeros(rows));
    return (int) Math.min(MAX_WINDOW_ROWS, 1L << Math.max(0, free));
  }

  /**
   * Returns the largest staging memory in bytes of a series of plans with fixed records.
   *
   * @param rows largest number of rows per plan
   * @param recordBytes size of a record in bytes
   */
  static long mostStagingBytes(Placement placement, long rows, long recordBytes) {
    long bytes = rows * recordBytes;
    long peers = Math.min(placement.peersWithRows(), rows);
    return peers <= 1
        ? peers * GrowingBuffer.capacityFor(bytes)
        : KEPT * (GrowingBuffer.capacityFor(bytes) + (peers - 1) * GrowingBuffer.capacityFor(0));
  }

  void begin(Placement placement, int count) {
    touched.clear();
    touchedRows.clear();
    if (placement != lastPlacement) {
      forgetMoved(placement);
      lastPlacement = placement;
    }
    plan++;
    bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, count - 1));
  }

  /** Drops processes whose numbers differ in a new placement, because the number is their key. */
  private void forgetMoved(Placement placement) {
    for (int peer = 0; peer < all.size(); peer++) {
      if (peer >= placement.peers()
          || !all.get(peer).rows().process().equals(placement.peerAddress(peer))) {
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
    return touchedRows.stream().filter(which).map(PeerRows::process).collect(Collectors.toSet());
  }

  void add(Placement placement, int extent, int position, long index) {
    int peer = placement.peer(extent);
    while (all.size() <= peer) {
      all.add(new PeerIndices(new PeerRows(placement.peerAddress(all.size()), budget)));
    }
    PeerIndices indices = all.get(peer);
    if (indices.beginsIn(plan)) {
      touched.add(indices);
      touchedRows.add(indices.rows());
    }
    indices.add(index << bits | position);
  }

  /**
   * Arranges the rows for a fetch and returns them by process.
   *
   * @param stagingBytes limit in bytes for all ragged records together
   */
  List<PeerRows> arrange(Placement placement, long stagingBytes) {
    budget.begin(stagingBytes);
    for (PeerIndices indices : touched) {
      indices.arrange(placement, bits);
    }
    trim();
    return touchedRows;
  }

  /**
   * Frees staging memory beyond {@link #KEPT} times that of the largest plan. The memory of each
   * process grows to its largest share of any plan, so that without this, plans that read from one
   * process after another would keep a full share for each of them.
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
            .shrink(indices.neededBytes(plan)); // ragged rows grow again when their lengths arrive
      }
    }
  }

  private void noteMost(long bytes) {
    mostBytes = Math.max(mostBytes, bytes);
  }

  /** Returns the size of the staging memory in bytes. */
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

  /** Returns the number of leading rows of the plan that fit in a limit, by the known lengths. */
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

  /** Returns the bytes of all records received so far. */
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
