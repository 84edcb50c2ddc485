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

/**
 * The rows of one batch that one process serves, for all its ranks: each row once, sorted by place,
 * neighbours merged into runs, and the staging memory that receives their packed records back to
 * back. Reused from batch to batch.
 */
public final class PeerRows {
  private static final int FIRST_ROWS = 64;

  private final ProcessAddress process;
  private final StagingBudget budget;
  private final GrowingBuffer staging = new GrowingBuffer();

  private Runnable beforeStagingIsFreed = () -> {};
  private volatile boolean gone; // set by the threads of a network
  private boolean silent;
  private int rows;
  private int recordBytes;
  private int[] starts = new int[FIRST_ROWS + 1]; // lengths of ragged rows until all are known
  private boolean measured;
  private boolean placed;
  private long takenBytes;

  private int runs;
  private RemoteSegment[] runSegment = new RemoteSegment[FIRST_ROWS];
  private int[] runSegmentNumber = new int[FIRST_ROWS];
  private long[] runRow = new long[FIRST_ROWS];
  private int[] runSlot = new int[FIRST_ROWS + 1];

  /**
   * @param budget bytes that the ragged records of one batch may take, shared by its processes
   */
  public PeerRows(ProcessAddress process, StagingBudget budget) {
    this.process = process;
    this.budget = budget;
  }

  /** The process that serves the rows. */
  public ProcessAddress process() {
    return process;
  }

  /** Whose rows they are, for people: one of these ranks, as far as that is known of a process. */
  public String owners() {
    List<String> ranks =
        IntStream.range(0, runs)
            .map(run -> runSegment[run].rank())
            .distinct()
            .mapToObj(Integer::toString)
            .toList();
    return ranks.size() == 1 ? "rank " + ranks.get(0) : "one of ranks " + String.join(", ", ranks);
  }

  /** Whether it was found, for the rows of this plan, to serve nothing any more. */
  public boolean isGone() {
    return gone;
  }

  /** Whether {@link #markSilent} was called for this plan. */
  public boolean isSilent() {
    return silent;
  }

  /**
   * Marks the rows as ones of which another copy should be read: nothing has come for longer than
   * was allowed, or the process has failed to serve them.
   */
  public void markSilent() {
    silent = true;
  }

  /** What is to be thrown if the process has ended. */
  public RankLostException lost() {
    gone = true;
    return new RankLostException(
        runSegment[0].rank(),
        "the process of %s at %s has ended, or closed all its stores".formatted(owners(), process));
  }

  /** What is to be thrown if the process does not serve the rows any more. */
  public DDStoreException closed() {
    gone = true;
    return new DDStoreException("%s at %s has closed the store".formatted(owners(), process));
  }

  /** How many different rows are wanted; they have slots of [0, rows) in the order of transfer. */
  public int rows() {
    return rows;
  }

  /** Runs of consecutive rows of one segment, in the order of their slots. */
  public int runs() {
    return runs;
  }

  /** The segment of a run. */
  public RemoteSegment segment(int run) {
    return runSegment[run];
  }

  /** The number of the segment of a run among those of these rows, from 0 on, never falling. */
  public int segmentNumber(int run) {
    return runSegmentNumber[run];
  }

  /** How many segments the rows lie in. */
  public int segments() {
    return runs == 0 ? 0 : runSegmentNumber[runs - 1] + 1;
  }

  /** The first row of a run, counted in its segment. */
  public long firstRow(int run) {
    return runRow[run];
  }

  /** The slot of the first row of a run; for {@code run == runs()} the number of rows. */
  public int firstSlot(int run) {
    return runSlot[run];
  }

  /** The bytes of each record; 0 if they are ragged. */
  public int recordBytes() {
    return recordBytes;
  }

  /** Where the record of a slot begins in the staging; for {@code slot == rows()} the end. */
  public int start(int slot) {
    return recordBytes > 0 ? slot * recordBytes : starts[slot];
  }

  /** Makes the length of a ragged record known. All of them are, before {@link #reserve()}. */
  public void setLength(int slot, int lengthBytes) {
    measured = false;
    placed = false;
    starts[slot + 1] = lengthBytes;
  }

  /**
   * The staging, with room for all records. Its content is undefined. May be called again.
   *
   * @throws BatchTooLargeException if ragged rows need more than 2 GiB, or than the plan may have;
   *     nothing is on its way to the staging of this process then
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

  /** Turns lengths into places, if there is room for all. */
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
          "%,d ragged rows of %s have %,d bytes, more than the %,d that are read at once"
              .formatted(rows, process, bytes, budget.limitBytes()));
    }
    if (fitting < rows) {
      throw new BatchTooLargeException(
          "%,d ragged rows of %s have %,d bytes; at most %,d come at once: read at most %,d rows a batch"
              .formatted(rows, process, bytes, GrowingBuffer.MAX_BYTES, Math.max(1, fitting)));
    }
    starts[0] = 0;
    for (int slot = 0; slot < rows; slot++) {
      starts[slot + 1] += starts[slot];
    }
    placed = true;
  }

  /** Whether the lengths of all ragged records are known. */
  public boolean isMeasured() {
    return measured;
  }

  /** The bytes of a ragged record, once {@link #isMeasured()}. */
  public int lengthBytes(int slot) {
    return placed ? starts[slot + 1] - starts[slot] : starts[slot + 1];
  }

  /**
   * Says what is to be done before the memory of the staging is freed or replaced by other memory:
   * who has registered it takes that back. One action at a time; it stays.
   */
  public void beforeStagingIsFreed(Runnable action) {
    beforeStagingIsFreed = action;
  }

  /**
   * Gives the memory of the staging up without freeing it, because somebody may still write to it.
   *
   * @return the memory, the caller's from now on
   */
  public OffHeapBuffer abandonStaging() {
    return staging.abandon();
  }

  /** The memory that the staging takes now, in bytes. */
  public long stagingBytes() {
    return staging.buffer().capacity();
  }

  /** Memory that receives the records; {@link #reserve()} may replace it. */
  public GrowingBuffer staging() {
    return staging;
  }

  /** Frees the staging, if it is larger than so many bytes. Nothing is on its way to it. */
  public void shrink(long bytes) {
    if (stagingBytes() > bytes) {
      beforeStagingIsFreed.run();
      staging.abandon().close();
    }
  }

  /** Forgets the rows of the former batch. */
  public void begin() {
    gone = false;
    silent = false;
    rows = 0;
    runs = 0;
    measured = false;
    placed = false;
    takenBytes = 0;
  }

  /**
   * Makes room for the lengths of ragged records.
   *
   * @param mostRows number of rows of this batch at most
   */
  public void reserveRows(int mostRows) {
    if (starts.length < mostRows + 1) {
      starts = new int[mostRows + 1];
    }
  }

  /**
   * Begins a run of consecutive rows; {@link #addRow()} adds each of them.
   *
   * @param number of the segment among those of this batch, from 0 on, never falling
   * @param row first row, counted in the segment
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

  /** Adds the next row to the last run. */
  public void addRow() {
    rows++;
  }

  /** Ends the last run. */
  public void endRuns() {
    runSlot[runs] = rows;
    recordBytes = runSegment[0].recordBytes();
  }

  /** Frees the staging. */
  public void free() {
    beforeStagingIsFreed.run();
    staging.close();
  }

  @Override
  public String toString() {
    return "PeerRows[%,d rows in %,d runs of %s]".formatted(rows, runs, process);
  }
}
