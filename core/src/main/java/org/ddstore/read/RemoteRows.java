// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.ProcessAddress;

/** The remote rows of one batch by process, and their fetch into staging memory. Reused. */
public final class RemoteRows {
  private static final int MAX_WINDOW_ROWS = 1 << 20;

  private static final int INDEX_BITS = 63;

  /** Multiple of the memory of the largest plan that is kept for later plans. */
  private static final int KEPT = 2;

  private final List<PeerIndices> all = new ArrayList<>();
  private final List<PeerIndices> touched = new ArrayList<>();
  private final List<PeerRows> touchedRows = new ArrayList<>();
  private final StagingBudget budget = new StagingBudget();
  private final RowKeys keys = new RowKeys();
  private long plan;
  private Placement lastPlacement;
  private long largestPlanBytes;
  private long placedBytes;
  private volatile RunningFetch running;

  RemoteRows() {}

  /** Returns the largest number of rows in a window for which a key can hold index and position. */
  static int windowRows(long rows) {
    int free = INDEX_BITS - (Long.SIZE - Long.numberOfLeadingZeros(rows));
    return (int) Math.min(MAX_WINDOW_ROWS, 1L << Math.max(0, free));
  }

  /** Returns the largest staging memory, in bytes, of plans with up to some fixed remote rows. */
  public static long mostStagingBytes(Placement placement, long rows, long recordBytes) {
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
    keys.begin(count);
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

  /** Returns the processes that {@link #fetch} found to have ended or closed the store. */
  public Set<ProcessAddress> goneProcesses() {
    return processes(PeerRows::isGone);
  }

  /** Returns the processes that did not answer {@link #fetch} in time; they may be alive. */
  public Set<ProcessAddress> silentProcesses() {
    return processes(PeerRows::isSilent);
  }

  private Set<ProcessAddress> processes(Predicate<PeerRows> which) {
    return touchedRows.stream().filter(which).map(PeerRows::process).collect(Collectors.toSet());
  }

  /**
   * @param index global index of a row that another process serves
   * @param position position of the row in the batch
   */
  void add(long index, int position) {
    keys.add(index, position);
  }

  /** Sorts the rows, and divides them by the processes that serve them. */
  private void arrange() {
    keys.sort();
    ExtentMap extents = lastPlacement.extents();
    int from = 0;
    while (from < keys.count()) {
      int extent = extents.extentOf(keys.row(from));
      int to = keys.firstFrom(from + 1, extents.firstRow(extent) + extents.rows(extent));
      served(lastPlacement.peer(extent)).add(extent, from, to);
      from = to;
    }
    for (PeerRows rows : touchedRows) {
      rows.reserveRows(rows.rows());
      rows.endRuns();
    }
  }

  /** Returns the indices of a process, which belong to the plan from now on. */
  private PeerIndices served(int peer) {
    while (all.size() <= peer) {
      all.add(new PeerIndices(new PeerRows(lastPlacement.peerAddress(all.size()), budget)));
    }
    PeerIndices indices = all.get(peer);
    if (indices.beginsIn(plan)) {
      touched.add(indices);
      touchedRows.add(indices.rows());
    }
    return indices;
  }

  /** Fetches the rows into staging memory, and passes on the place of each. Blocks. */
  void fetch(Places target, RemoteReader reader, long stagingBytes) {
    if (keys.count() == 0) {
      return;
    }
    budget.begin(stagingBytes);
    arrange();
    trim();
    running = new RunningFetch(reader, touchedRows);
    try {
      reader.fetch(touchedRows);
    } finally {
      running = null;
    }
    place(target);
  }

  /** Returns which processes a running {@link #fetch} waits for, as text, or "". Any thread. */
  public String waitsFor() {
    RunningFetch fetch = running;
    return fetch == null ? "" : fetch.describe();
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
    recordNeeded(needed);
    if (held > KEPT * largestPlanBytes) {
      for (PeerIndices indices : all) {
        indices
            .rows()
            .shrink(indices.neededBytes(plan)); // ragged rows grow again when their lengths arrive
      }
    }
  }

  private void recordNeeded(long bytes) {
    largestPlanBytes = Math.max(largestPlanBytes, bytes);
  }

  public long stagingBytes() {
    return all.stream().map(PeerIndices::rows).mapToLong(PeerRows::stagingBytes).sum();
  }

  private void place(Places target) {
    long bytes = 0;
    for (PeerIndices indices : touched) {
      indices.place(target);
      PeerRows rows = indices.rows();
      placedBytes += rows.start(rows.rows());
      bytes += GrowingBuffer.capacityFor(rows.start(rows.rows()));
    }
    recordNeeded(bytes);
  }

  /** Returns the number of leading rows of the plan that fit in a limit, by the known lengths. */
  int rowsWithin(int count, long limitBytes) {
    long[] bytes = new long[count];
    touched.forEach(indices -> indices.lengths(bytes));
    long sum = 0;
    int fitting = 0;
    while (fitting < count && sum + bytes[fitting] <= limitBytes) {
      sum += bytes[fitting++];
    }
    return fitting;
  }

  /** Returns the bytes of all records received so far, counted whole. */
  public long fetchedBytes() {
    return placedBytes;
  }

  void free() {
    all.forEach(indices -> indices.rows().free());
  }

  /** The rows of one batch that one process serves: parts of the sorted keys, one an extent. */
  private final class PeerIndices {
    private final PeerRows rows;
    private long plan;
    private int[] partFrom = new int[1];
    private int[] partTo = new int[1];
    private int parts;

    PeerIndices(PeerRows rows) {
      this.rows = rows;
    }

    PeerRows rows() {
      return rows;
    }

    /** Discards the rows of other plans. Returns whether this is the first call for the plan. */
    boolean beginsIn(long plan) {
      if (this.plan == plan) {
        return false;
      }
      this.plan = plan;
      parts = 0;
      rows.begin();
      return true;
    }

    /** Adds the rows of the sorted keys [from, to), which are of one extent, each row once. */
    void add(int extent, int from, int to) {
      if (parts == partFrom.length) {
        partFrom = Arrays.copyOf(partFrom, 2 * parts);
        partTo = Arrays.copyOf(partTo, 2 * parts);
      }
      partFrom[parts] = from;
      partTo[parts] = to;
      RemoteSegment segment = lastPlacement.remote(extent);
      long firstRow = lastPlacement.extents().firstRow(extent);
      long last = -1;
      for (int k = from; k < to; k++) {
        long index = keys.row(k);
        if (index == last) {
          continue;
        }
        if (k == from || index != last + 1) {
          rows.beginRun(segment, parts, index - firstRow);
        }
        last = index;
        rows.addRow();
      }
      parts++;
    }

    void place(Places target) {
      GrowingBuffer staging = rows.staging();
      forEach(
          (position, slot) -> {
            int start = rows.start(slot);
            target.place(position, staging, start, rows.start(slot + 1) - start);
          });
    }

    /** Sets the bytes of the ragged records of a plan, if they are known. */
    void lengths(long[] bytes) {
      if (rows.isMeasured()) {
        forEach((position, slot) -> bytes[position] = rows.lengthBytes(slot));
      }
    }

    private void forEach(PositionAndSlot action) {
      int slot = -1;
      for (int part = 0; part < parts; part++) {
        long last = -1;
        for (int k = partFrom[part]; k < partTo[part]; k++) {
          long index = keys.row(k);
          slot += index == last ? 0 : 1;
          last = index;
          action.accept(keys.position(k), slot);
        }
      }
    }

    /** Returns the memory in bytes for the rows of a plan; 0 if ragged or of another plan. */
    long neededBytes(long plan) {
      return this.plan == plan && rows.recordBytes() > 0
          ? GrowingBuffer.capacityFor((long) rows.rows() * rows.recordBytes())
          : 0;
    }
  }

  /** The places of the rows of a batch in staging memory, by position in the batch. */
  @FunctionalInterface
  interface Places {
    void place(int position, GrowingBuffer staging, int start, int bytes);
  }

  /** An action on a position in the batch and the slot of its row. */
  @FunctionalInterface
  private interface PositionAndSlot {
    void accept(int position, int slot);
  }

  /** A running fetch that other threads may describe. Immutable. */
  private static final class RunningFetch {
    private final RemoteReader reader;
    private final ProcessAddress[] processes;
    private final int[] ranks;
    private final long startNanos = System.nanoTime();

    /**
     * @param peers arranged rows, one element per process
     */
    RunningFetch(RemoteReader reader, List<PeerRows> peers) {
      this.reader = reader;
      this.processes = new ProcessAddress[peers.size()];
      this.ranks = new int[peers.size()];
      for (int p = 0; p < ranks.length; p++) {
        processes[p] = peers.get(p).process();
        ranks[p] = peers.get(p).segment(0).rank();
      }
    }

    /** Returns the processes with missing rows, a rank of each and the wait; empty for none. */
    String describe() {
      StringJoiner missing = new StringJoiner(", ");
      for (int p = 0; p < ranks.length; p++) {
        if (reader.awaits(processes[p])) {
          missing.add("rank %d at %s".formatted(ranks[p], processes[p]));
        }
      }
      if (missing.length() == 0) {
        return "";
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
      return "for rows of %s since %,d ms".formatted(missing, millis);
    }
  }
}
