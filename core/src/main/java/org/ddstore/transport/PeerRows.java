// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.RankLostException;
import org.ddstore.types.StoreGoneException;

/**
 * The rows of one batch that one process serves for all its ranks: each row once, sorted by place,
 * with contiguous rows merged into runs, and the staging memory that receives their packed records
 * contiguously. Reused for all batches.
 */
public final class PeerRows {
  private static final int FIRST_ROWS = 64;

  private final ProcessAddress process;
  private final StagingBudget budget;
  private final GrowingBuffer staging = new GrowingBuffer();

  private Runnable beforeStagingIsFreed = () -> {};
  private volatile boolean gone; // set by network threads
  private boolean silent;
  private int rows;
  private int recordBytes;
  // Holds the lengths of ragged rows until all are known.
  private int[] starts = new int[FIRST_ROWS + 1];
  private boolean measured;
  private boolean placed;
  private long takenBytes;

  private int runs;
  private RemoteSegment[] runSegment = new RemoteSegment[FIRST_ROWS];
  private int[] runSegmentNumber = new int[FIRST_ROWS];
  private long[] runRow = new long[FIRST_ROWS];
  private int[] runSlot = new int[FIRST_ROWS + 1];

  /**
   * @param budget limit for the ragged records of one batch, shared by its processes
   */
  public PeerRows(ProcessAddress process, StagingBudget budget) {
    this.process = process;
    this.budget = budget;
  }

  public ProcessAddress process() {
    return process;
  }

  /** Returns the ranks that own the rows as human-readable text: one rank, or one of several. */
  public String owners() {
    List<String> ranks =
        IntStream.range(0, runs)
            .map(run -> runSegment[run].rank())
            .distinct()
            .mapToObj(Integer::toString)
            .toList();
    return ranks.size() == 1 ? "rank " + ranks.get(0) : "one of ranks " + String.join(", ", ranks);
  }

  /** Returns whether this plan found that the process has ended or closed the store. */
  public boolean isGone() {
    return gone;
  }

  /** Returns whether {@link #markSilent} was called for this plan. */
  public boolean isSilent() {
    return silent;
  }

  /** Marks the process as silent or failing, so that another copy of the rows is read. */
  public void markSilent() {
    silent = true;
  }

  /** Marks the process as gone and returns the exception for a process that has ended. */
  public RankLostException lost() {
    gone = true;
    return new RankLostException(
        runSegment[0].rank(),
        "the process of %s at %s has ended or has closed all its stores"
            .formatted(owners(), process));
  }

  /** Marks the process as gone and returns the exception for a closed store. */
  public DDStoreException closed() {
    gone = true;
    return new StoreGoneException(
        "the process of %s at %s has closed the store".formatted(owners(), process));
  }

  /** Returns the number of distinct rows; their slots in [0, rows) are in the order of transfer. */
  public int rows() {
    return rows;
  }

  /** Returns the number of runs of consecutive rows of one segment, in the order of their slots. */
  public int runs() {
    return runs;
  }

  public RemoteSegment segment(int run) {
    return runSegment[run];
  }

  /** Returns the number of the segment of a run: from 0, ascending, without gaps. */
  public int segmentNumber(int run) {
    return runSegmentNumber[run];
  }

  public int segments() {
    return runs == 0 ? 0 : runSegmentNumber[runs - 1] + 1;
  }

  /** Returns the first row of a run, within its segment. */
  public long firstRow(int run) {
    return runRow[run];
  }

  /** Returns the slot of the first row of a run; for {@code run == runs()} the number of rows. */
  public int firstSlot(int run) {
    return runSlot[run];
  }

  /** Returns the run of a slot in [0, rows). */
  public int runOf(int slot) {
    int found = Arrays.binarySearch(runSlot, 0, runs, slot);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns the size of each record in bytes; 0 for ragged records. */
  public int recordBytes() {
    return recordBytes;
  }

  /** Appends the first row of the runs [run, endRun) to a buffer, each as an int64. */
  public void putFirstRows(ByteBuffer out, int run, int endRun) {
    out.asLongBuffer().put(runRow, run, endRun - run);
    out.position(out.position() + (endRun - run) * Long.BYTES);
  }

  /** Returns the start of a slot's record in the staging memory; for {@code rows()} the end. */
  public int start(int slot) {
    return recordBytes > 0 ? slot * recordBytes : starts[slot];
  }

  /** Sets the bytes of a ragged record; called for all before {@link #reserve()}. */
  public void setLength(int slot, int lengthBytes) {
    measured = false;
    placed = false;
    starts[slot + 1] = lengthBytes;
  }

  /**
   * Returns the staging memory with room for all records. Its content is undefined. May be called
   * again.
   *
   * @throws BatchTooLargeException if ragged rows need more than 2 GiB, or exceed the limit of the
   *     plan; no transfer to the staging memory of this process is then in flight
   */
  public ByteBuffer reserve() {
    if (recordBytes == 0 && !placed) {
      placeRagged();
    }
    long bytes = recordBytes > 0 ? (long) rows * recordBytes : starts[rows];
    if (staging.buffer().capacity() < bytes) {
      beforeStagingIsFreed.run();
    }
    return staging.ensure(bytes);
  }

  /** Converts lengths to places, if all records fit. */
  private void placeRagged() {
    measured = true;
    long bytes = 0;
    int fitting = 0;
    for (int slot = 0; slot < rows; slot++) {
      bytes += starts[slot + 1];
      fitting += bytes <= GrowingBuffer.MAX_BYTES ? 1 : 0;
    }
    long before = takenBytes;
    takenBytes = bytes;
    if (!budget.take(bytes - before)) {
      throw new BatchTooLargeException(
          "%,d ragged rows of %s have %,d bytes, the limit of one read is %,d"
              .formatted(rows, process, bytes, budget.limitBytes()));
    }
    if (fitting < rows) {
      throw new BatchTooLargeException(
          "%,d ragged rows of %s have %,d bytes, the limit is %,d: read at most %,d rows a batch"
              .formatted(rows, process, bytes, GrowingBuffer.MAX_BYTES, Math.max(1, fitting)));
    }
    starts[0] = 0;
    for (int slot = 0; slot < rows; slot++) {
      starts[slot + 1] += starts[slot];
    }
    placed = true;
  }

  /** Returns whether the lengths of all ragged records are known. */
  public boolean isMeasured() {
    return measured;
  }

  /** Returns the size of a ragged record in bytes; only if {@link #isMeasured()}. */
  public int lengthBytes(int slot) {
    return placed ? starts[slot + 1] - starts[slot] : starts[slot + 1];
  }

  /** Sets the one action that runs before the staging memory is freed or replaced. */
  public void beforeStagingIsFreed(Runnable action) {
    beforeStagingIsFreed = action;
  }

  /**
   * Detaches the staging memory without freeing it, because a transfer may still write to it.
   *
   * @return detached memory, owned by the caller
   */
  public OffHeapBuffer abandonStaging() {
    return staging.abandon();
  }

  public long stagingBytes() {
    return staging.buffer().capacity();
  }

  /** Returns the memory that receives the records; {@link #reserve()} may replace it. */
  public GrowingBuffer staging() {
    return staging;
  }

  /** Frees the staging memory if it is larger than {@code bytes}. No transfer may be in flight. */
  public void shrink(long bytes) {
    if (stagingBytes() > bytes) {
      beforeStagingIsFreed.run();
      staging.abandon().close();
    }
  }

  public void begin() {
    gone = false;
    silent = false;
    rows = 0;
    runs = 0;
    measured = false;
    placed = false;
    takenBytes = 0;
  }

  /** Reserves room for the lengths of at most {@code maxRows} ragged records. */
  public void reserveRows(int maxRows) {
    if (starts.length < maxRows + 1) {
      starts = new int[maxRows + 1];
    }
  }

  /**
   * Begins a run of consecutive rows; {@link #addRow()} adds each of them.
   *
   * @param number number of the segment in this batch, from 0, never decreasing, without gaps
   * @param row first row, within the segment
   */
  public void beginRun(RemoteSegment segment, int number, long row) {
    if (runs == runRow.length) {
      runSegment = Arrays.copyOf(runSegment, 2 * runs);
      runSegmentNumber = Arrays.copyOf(runSegmentNumber, 2 * runs);
      runRow = Arrays.copyOf(runRow, 2 * runs);
      runSlot = Arrays.copyOf(runSlot, 2 * runs + 1);
    }
    runSegment[runs] = segment;
    runSegmentNumber[runs] = number;
    runRow[runs] = row;
    runSlot[runs++] = rows;
  }

  public void addRow() {
    rows++;
  }

  public void endRuns() {
    runSlot[runs] = rows;
    recordBytes = runSegment[0].recordBytes();
  }

  public void free() {
    beforeStagingIsFreed.run();
    staging.close();
  }

  @Override
  public String toString() {
    return "PeerRows[%,d rows in %,d runs of %s]".formatted(rows, runs, process);
  }
}
