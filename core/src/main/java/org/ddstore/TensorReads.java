// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.read.RecordGather;
import org.ddstore.types.Field;
import org.ddstore.types.Plural;

/**
 * The reads of one {@link Reader} into tensors of the caller: rows of its only field, which is
 * fixed and has no cast. Rows of a list of indices are gathered; consecutive rows in local memory
 * are copied run by run, without a plan.
 */
final class TensorReads implements AutoCloseable {
  /** Bytes of a piece that fits in a cache. */
  private static final int PIECE_BYTES = 256 << 10;

  /** Bytes of one copy from a file; small because garbage collection waits for its end. */
  private static final int PAGED_RUN_BYTES = 64 << 10;

  /** Bytes in flight over a network; large enough to hide the latency. */
  private static final int REMOTE_PIECE_BYTES = 8 << 20;

  /** Largest row in bytes that is copied faster than the clock is read. */
  private static final int SMALL_BYTES = 4096;

  /** Number of reads of small rows per timed one. */
  private static final int SMALL_TIMED_EVERY = 16;

  private final Variable variable;
  private final Projection fields;
  private final int[] rowShape; // of the first field; a read copies no shape
  private final RowLocator locator;
  private final RecordGather.Fixed gather;
  private final ReadCounters counters;
  private final GatherKernel kernel;
  private final GatherKernel.Target target = new GatherKernel.Target();
  private final GatherKernel.Target[] oneTarget = {target};
  private GrowingBuffer piece;
  private long[] consecutive = new long[0];
  private int untimed;
  private int untilTimed;

  TensorReads(
      Variable variable,
      Projection fields,
      RowLocator locator,
      RecordGather.Fixed gather,
      ReadCounters counters,
      GatherKernel kernel) {
    this.variable = variable;
    this.fields = fields;
    this.rowShape = fields.field(0).shape();
    this.locator = locator;
    this.gather = gather;
    this.counters = counters;
    this.kernel = kernel;
  }

  /**
   * Returns the field that a destination of {@code rows} rows receives.
   *
   * @throws IllegalArgumentException if the destination does not match the reader's only field
   */
  Field check(Tensor destination, long rows) {
    Field field = fields.field(0);
    if (fields.size() != 1 || field.isRagged() || fields.hasCasts()) {
      throw new IllegalArgumentException(
          "a tensor holds one fixed field without a cast; this reader of \"%s\" reads %s%s: select one field with reader(name), or read into a batch"
              .formatted(
                  variable.name(),
                  IntStream.range(0, fields.size()).mapToObj(fields::field).toList(),
                  fields.hasCasts() ? " with casts" : ""));
    }
    if (!destination.hasRowsOf(field, rowShape) || destination.rows() != rows) {
      throw new IllegalArgumentException(
          "the destination is %s, but %s of %s %s %s[%d%s]"
              .formatted(
                  destination,
                  Plural.of(rows, "row"),
                  field,
                  rows == 1 ? "needs" : "need",
                  field.dtype(),
                  rows,
                  innerShape(field)));
    }
    if (destination.isReadOnly()) {
      throw new IllegalArgumentException("the destination " + destination + " is read-only");
    }
    return field;
  }

  private static String innerShape(Field field) {
    StringBuilder text = new StringBuilder();
    for (int dimension : field.shape()) {
      text.append(", ").append(dimension);
    }
    return text.toString();
  }

  void gather(Placement placement, Tensor destination, long[] checked, int count) {
    try {
      if (destination.memory().aim(target, kernel) && !pinsForDisk(placement)) {
        int window = RowLocator.windowRows(placement, variable.schema().fixedBytes());
        for (int row = 0; row < count; ) {
          row += copy(placement, row, checked, row, Math.min(window, count - row));
        }
      } else {
        copyInPieces(placement, destination, checked, count);
      }
    } finally {
      target.clear();
    }
  }

  /** Returns whether a copy would pin an array, which blocks the collector, during disk reads. */
  private boolean pinsForDisk(Placement placement) {
    return kernel != null && target.isArray() && placement.isPaged();
  }

  /** Returns the number of rows copied: fewer than {@code count} if the records do not fit. */
  private int copy(Placement placement, int targetRow, long[] indices, int offset, int count) {
    int copied =
        locator.read(
            placement,
            indices,
            offset,
            count,
            RowLocator.RAGGED_WINDOW_BYTES,
            located -> gatherTo(located, targetRow));
    counters.add(locator.plan());
    return copied;
  }

  private void gatherTo(ReadPlan located, int targetRow) {
    if (!variable.schema().isFixed()) {
      located.checkRecords(variable.schema().prefixBytes());
    }
    gather.copy(located, oneTarget, targetRow);
  }

  /** Copies through a piece, as arrays take no unaligned rows, nor are pinned for a disk. */
  private void copyInPieces(Placement placement, Tensor destination, long[] checked, int rows) {
    int rowBytes = fields.field(0).bytes();
    int pieceBytes = placement.hasRemote() ? REMOTE_PIECE_BYTES : PIECE_BYTES;
    int window = RowLocator.windowRows(placement, variable.schema().fixedBytes());
    int pieceRows = Math.min(window, Math.max(1, pieceBytes / rowBytes));
    aimAtPiece((long) Math.min(pieceRows, rows) * rowBytes);
    for (int row = 0; row < rows; ) {
      int count = copy(placement, 0, checked, row, Math.min(pieceRows, rows - row));
      destination.memory().write((long) row * rowBytes, piece.buffer(), 0, count * rowBytes);
      row += count;
    }
  }

  private void aimAtPiece(long bytes) {
    if (piece == null) {
      piece = new GrowingBuffer();
    }
    target.set(piece, bytes);
  }

  /** Reads as many checked consecutive rows as the destination has. */
  void run(Placement placement, Tensor destination, Field field, long start) {
    long count = destination.rows();
    if (count == 1 && field.bytes() <= SMALL_BYTES && getSmall(placement, destination, start)) {
      return;
    }
    locator.begin();
    long since = counters.begin();
    boolean whole = variable.schema().size() == 1;
    long done = 0;
    while (done < count) {
      long row = start + done;
      done +=
          placement.segment(placement.extents().extentOf(row)) == null
              ? getRemote(placement, destination, row, done, count - done)
              : getRun(placement, destination, row, done, whole ? count - done : 1);
    }
    counters.end(since, count, count * field.bytes());
  }

  /** Reads one row; every 16th read is timed. Returns false if it is not in local memory. */
  private boolean getSmall(Placement placement, Tensor destination, long row) {
    ExtentMap extents = placement.extents();
    int extent = extents.extentOf(row);
    Segment segment = placement.segment(extent);
    if (segment == null) {
      return false;
    }
    boolean timed = untilTimed == 0;
    long start = timed ? System.nanoTime() : 0;
    int bytes = variable.schema().field(fields.position(0)).bytes();
    long place = segment.place(row - extents.firstRow(extent));
    locator.begin();
    copyStable(segment, place, bytes, destination, 0, extents.rank(extent));
    long bestNanos = 0;
    long nanos = 0;
    untimed++;
    untilTimed--;
    if (timed) {
      bestNanos = System.nanoTime() - start;
      nanos = bestNanos * untimed;
      untimed = 0;
      untilTimed = SMALL_TIMED_EVERY - 1;
    }
    counters.count(placement.pathIndex(extent), 1, bytes, nanos, bestNanos);
    return true;
  }

  /**
   * Copies the field of one row, again if the rows change during the copy. Does not use {@link
   * RowLocator#read}: {@code bench read} takes 0.04 us for a hot row here, and 0.4 us for a batch
   * of one random row by a plan.
   */
  private void copyStable(
      Segment segment, long place, int bytes, Tensor destination, long at, int rank) {
    ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
    int from = Segment.positionOf(place) + variable.schema().fixedOffset(fields.position(0));
    long version;
    do {
      version = segment.version();
      destination.memory().write(at, chunk, from, bytes);
    } while (!segment.validate(version) && locator.pause(rank));
  }

  /** Copies rows of one remote extent and returns their number. */
  private long getRemote(
      Placement placement, Tensor destination, long row, long destinationRow, long maxRows) {
    int rowBytes = fields.field(0).bytes();
    ExtentMap extents = placement.extents();
    int extent = extents.extentOf(row);
    long left = Math.min(maxRows, extents.firstRow(extent) + extents.rows(extent) - row);
    int pieceRows = Math.max(1, REMOTE_PIECE_BYTES / variable.schema().fixedBytes());
    int requested = (int) Math.min(left, Math.min(pieceRows, ReadPlan.maxRows(placement)));
    if (consecutive.length < requested) {
      consecutive = new long[requested];
    }
    for (int i = 0; i < requested; i++) {
      consecutive[i] = row + i;
    }
    aimAtPiece((long) requested * rowBytes);
    locator.begin(); // a new deadline, because a run may have any size
    int count = copy(placement, 0, consecutive, 0, requested);
    destination.memory().write(destinationRow * rowBytes, piece.buffer(), 0, count * rowBytes);
    return count;
  }

  /** Copies a run of rows in one chunk and returns their number. */
  private long getRun(
      Placement placement, Tensor destination, long row, long destinationRow, long maxRows) {
    int rowBytes = fields.field(0).bytes();
    ExtentMap extents = placement.extents();
    int extent = extents.extentOf(row);
    Segment segment = placement.segment(extent);
    long rowInSegment = row - extents.firstRow(extent);
    long place = segment.place(rowInSegment);
    long left = Math.min(maxRows, extents.rows(extent) - rowInSegment);
    int atOnce = segment.chunk(Segment.chunkOf(place)).capacity() - Segment.positionOf(place);
    if (segment.isPaged()) {
      atOnce = Math.min(atOnce, PAGED_RUN_BYTES);
    }
    long run = Math.min(left, Math.max(1, atOnce / rowBytes));
    int bytes = (int) run * rowBytes;
    copyStable(segment, place, bytes, destination, destinationRow * rowBytes, extents.rank(extent));
    counters.add(placement.pathIndex(extent), run);
    return run;
  }

  long memoryBytes() {
    return piece == null ? 0 : piece.buffer().capacity();
  }

  @Override
  public void close() {
    if (piece != null) {
      piece.close();
    }
  }
}
