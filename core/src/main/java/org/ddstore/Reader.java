package org.ddstore;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.GatherKernels;
import org.ddstore.read.GatherTarget;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.types.Cleanup;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;

/**
 * A reader of the rows of one variable by global index, with all fields or a selection. One reader
 * per thread; many readers may read concurrently. Reads are one-sided: no other rank takes part. A
 * row that {@link DDStore#epochBegin()} is changing is read again and never returned torn.
 */
public final class Reader implements AutoCloseable {
  /** Bytes of a piece that fits in a cache. */
  private static final int PIECE_BYTES = 256 << 10;

  /**
   * Bytes of one copy from a file; kept small because garbage collection waits for a copy to end.
   */
  private static final int PAGED_RUN_BYTES = 64 << 10;

  /** Bytes in flight over a network; large enough to hide the latency. */
  private static final int REMOTE_PIECE_BYTES = 8 << 20;

  /** Largest row in bytes that is copied faster than the clock is read. */
  private static final int SMALL_BYTES = 4096;

  /** Number of reads of small rows per timed one. */
  private static final int SMALL_TIMED_EVERY = 16;

  private final Variable variable;
  private final Projection fields;
  private final ReadGate.Pass pass;
  private final BatchPool pool;
  private final RowLocator locator;
  private final ReadPlan plan;
  private final RecordGather gather;
  private final ReadCounters counters = new ReadCounters();
  private final long[] rowsByPath = new long[ReadPath.values().length];
  private final GatherKernel kernel;
  private final GatherTarget target = new GatherTarget();
  private final GatherTarget[] oneTarget = {target};
  private GrowingBuffer piece;
  private long[] consecutive = new long[0];
  private long[] checked = new long[0];
  private final StableWait stableWait;
  private int untimed;
  private int untilTimed;

  Reader(Variable variable, ReadGate.Pass pass, Projection fields) {
    this.variable = variable;
    this.fields = fields;
    this.pass = pass;
    this.pool = new BatchPool(fields);
    this.kernel = GatherKernels.current();
    this.locator = new RowLocator(variable, kernel);
    this.plan = locator.plan();
    this.gather = new RecordGather(fields);
    this.stableWait = new StableWait(variable);
  }

  /** {@return the variable that this reader reads} */
  public Variable variable() {
    return variable;
  }

  /**
   * Reads rows in the given order; repeats are allowed. Local; does not wait for other ranks.
   *
   * @param indices global indices in [0, rows); an empty array returns an empty batch. The array is
   *     copied first, so a concurrent change by another thread cannot lead to an unchecked index
   * @return a batch that the caller closes
   * @throws IndexOutOfBoundsException if an index is out of range; the message names it, and
   *     nothing is read
   * @throws IllegalArgumentException if a field of the batch would exceed 2 GiB; the message names
   *     the largest legal number of rows
   */
  public Batch getBatch(long... indices) {
    Objects.requireNonNull(indices, "indices is null");
    Batch batch = pool.take();
    try {
      getBatch(batch, indices);
      return batch;
    } catch (RuntimeException | Error e) {
      batch.close();
      throw e;
    }
  }

  /**
   * Reads rows like {@link #getBatch(long...)} into an open batch of this reader, and replaces its
   * contents.
   *
   * @param batch batch of this reader, or of one with the same options; overwritten
   * @param indices global indices of rows, in any order
   */
  public void getBatch(Batch batch, long... indices) {
    checkArguments(batch, indices);
    pass.enter(this);
    try {
      long start = begin();
      Placement placement = variable.placement();
      int count = check(placement, indices);
      fill(placement, batch.memory(), 0, count);
      count(start, count, batch.memory().valueBytes());
    } finally {
      pass.exit();
    }
  }

  private void checkArguments(Batch batch, long... indices) {
    Objects.requireNonNull(batch, "batch is null");
    Objects.requireNonNull(indices, "indices is null");
    if (!batch.isOf(pool)) {
      throw new IllegalArgumentException(batch + " was not given by " + this);
    }
  }

  /**
   * Copies the caller's indices to {@link #checked}, because the caller may change its array during
   * the read. Returns the number of indices.
   */
  private int check(Placement placement, long... indices) {
    if (checked.length < indices.length) {
      checked = new long[indices.length];
    }
    placement.copyChecked(indices, checked, 0, variable.name());
    return indices.length;
  }

  /**
   * Reads rows like {@link #getBatch(Batch, long...)} into several batches, planned as one read:
   * the rows that one process serves are requested together, each of them once. The read has one
   * deadline.
   *
   * @param batches batches of readers of this variable with the same fields and casts, without
   *     repeats
   * @param indices global indices, one array per batch
   * @throws IndexOutOfBoundsException if any index is out of range; nothing is read then
   */
  public void getBatches(List<Batch> batches, List<long[]> indices) {
    Objects.requireNonNull(batches, "batches is null");
    Objects.requireNonNull(indices, "indices is null");
    getBatches(batches.toArray(Batch[]::new), indices.toArray(long[][]::new));
  }

  private void getBatches(Batch[] batches, long[]... indices) {
    if (batches.length != indices.length) {
      throw new IllegalArgumentException(
          "%d batches for %d arrays of indices".formatted(batches.length, indices.length));
    }
    for (long[] rows : indices) {
      Objects.requireNonNull(rows, "an element of indices is null");
    }
    for (Batch batch : batches) {
      Objects.requireNonNull(batch, "an element of batches is null");
      if (!batch.holds(fields)) {
        throw new IllegalArgumentException(batch + " was not given by a reader like " + this);
      }
    }
    pass.enter(this);
    try {
      long start = begin();
      Placement placement = variable.placement();
      int[] starts = checkAll(placement, indices);
      int all = starts[batches.length];
      if (placement.hasRemote() && all <= ReadPlan.maxRows(placement)) {
        fillTogether(placement, batches, starts);
      } else {
        for (int b = 0; b < batches.length; b++) {
          fill(placement, batches[b].memory(), starts[b], starts[b + 1] - starts[b]);
        }
      }
      long bytes = 0;
      for (Batch batch : batches) {
        bytes += batch.memory().valueBytes();
      }
      count(start, all, bytes);
    } finally {
      pass.exit();
    }
  }

  /**
   * Copies several arrays like {@link #check}, one after the other. Returns the start of each array
   * in {@link #checked}, followed by the total number of indices.
   */
  private int[] checkAll(Placement placement, long[]... indices) {
    int[] starts = new int[indices.length + 1];
    for (int b = 0; b < indices.length; b++) {
      starts[b + 1] = Math.addExact(starts[b], indices[b].length);
    }
    if (checked.length < starts[indices.length]) {
      checked = new long[starts[indices.length]];
    }
    for (int b = 0; b < indices.length; b++) {
      placement.copyChecked(indices[b], checked, starts[b], variable.name());
    }
    return starts;
  }

  /**
   * Reads the first rows, in the given order, into a batch like {@link #getBatch(Batch, long...)},
   * limited by the bytes of their packed records. Reads at least one row.
   *
   * @param batch batch of this reader, or of one with the same options; overwritten
   * @param maxBytes limit in bytes for records in local memory; the same limit applies to remote
   *     records
   * @param indices global indices of rows, in any order
   * @return number of rows in the batch; 0 if there are no indices
   * @throws IndexOutOfBoundsException if any index is out of range; nothing is read then
   */
  public int getBatchWithin(Batch batch, long maxBytes, long... indices) {
    checkArguments(batch, indices);
    pass.enter(this);
    try {
      long start = begin();
      Placement placement = variable.placement();
      int rows = rowsWithin(placement, maxBytes, check(placement, indices));
      if (variable.schema().isFixed()) {
        fill(placement, batch.memory(), 0, rows);
      } else {
        rows = fillWithin(placement, batch.memory(), rows, maxBytes);
      }
      count(start, rows, batch.memory().valueBytes());
      return rows;
    } finally {
      pass.exit();
    }
  }

  /** Returns the number of checked rows that fit, by the record sizes that this process knows. */
  private int rowsWithin(Placement placement, long maxBytes, int all) {
    if (variable.schema().isFixed()) {
      long fitting = Math.max(1, maxBytes / variable.schema().fixedBytes());
      return (int) Math.min(all, fitting);
    }
    int maxRows = Math.min(all, ReadPlan.maxRows(placement));
    long bytes = 0;
    for (int i = 0; i < maxRows; i++) {
      bytes += placement.localBytes(checked[i]);
      if (i > 0 && bytes > maxBytes) {
        return i;
      }
    }
    return maxRows;
  }

  /**
   * Fills a batch like {@link #fill}, with the first ragged rows that fit. Returns their number.
   */
  private int fillWithin(Placement placement, BatchMemory memory, int maxRows, long maxBytes) {
    int rows;
    do {
      rows = locator.locateWithin(placement, checked, 0, maxRows, maxBytes);
      memory.reserve(rows);
      memory.fill(plan, gather);
    } while (!plan.isStable() && awaitStable(plan.changingRank()));
    tally();
    return rows;
  }

  /**
   * @param starts start of the checked indices of each batch, followed by their total number
   */
  private void fillTogether(Placement placement, Batch[] batches, int... starts) {
    if (!variable.schema().isFixed()) {
      fillRaggedTogether(placement, batches, starts);
      return;
    }
    reserveAll(batches, starts);
    int all = starts[batches.length];
    int window = windowRows(placement);
    for (int row = 0; row == 0 || row < all; row += window) {
      int count = Math.min(window, all - row);
      do {
        locator.locate(placement, checked, row, count);
        fillParts(batches, starts, row, count);
      } while (!plan.isStable() && awaitStable(plan.changingRank()));
      tally();
    }
  }

  /** Fills batches of ragged rows: in one read, or one batch at a time if they are too large. */
  private void fillRaggedTogether(Placement placement, Batch[] batches, int... starts) {
    int all = starts[batches.length];
    do {
      int located =
          locator.locateWithin(placement, checked, 0, all, RowLocator.RAGGED_WINDOW_BYTES);
      if (located < all) {
        for (int b = 0; b < batches.length; b++) {
          fill(placement, batches[b].memory(), starts[b], starts[b + 1] - starts[b]);
        }
        return;
      }
      reserveAll(batches, starts);
      fillParts(batches, starts, 0, all);
    } while (!plan.isStable() && awaitStable(plan.changingRank()));
    tally();
  }

  private static void reserveAll(Batch[] batches, int... starts) {
    for (int b = 0; b < batches.length; b++) {
      batches[b].memory().reserve(starts[b + 1] - starts[b]);
    }
  }

  /**
   * Copies rows [row, row + count) of all batches, which the plan has located, to their batches.
   */
  private void fillParts(Batch[] batches, int[] starts, int row, int count) {
    for (int b = 0; b < batches.length; b++) {
      int first = starts[b]; // start of the batch in the checked indices
      int from = Math.max(row, first);
      int rows = Math.max(0, Math.min(row + count, starts[b + 1]) - from);
      BatchMemory memory = batches[b].memory();
      if (!variable.schema().isFixed()) {
        memory.fill(plan.part(from, rows), gather);
      } else if (rows > 0) {
        memory.fillFixed(plan.part(from - row, rows), gather, from - first);
      }
    }
  }

  /** Reads the rows of checked indices [first, first + count) into a batch. */
  private void fill(Placement placement, BatchMemory memory, int first, int count) {
    memory.reserve(count);
    if (variable.schema().isFixed()) {
      fillInWindows(placement, memory, first, count);
    } else {
      checkRagged(placement, count);
      do {
        locator.locate(placement, checked, first, count);
        memory.fill(plan, gather);
      } while (!plan.isStable() && awaitStable(plan.changingRank()));
      tally();
    }
  }

  private void fillInWindows(Placement placement, BatchMemory memory, int first, int rows) {
    int window = batchWindowRows(placement);
    int row = 0;
    do {
      int count = Math.min(window, rows - row);
      do {
        locator.locate(placement, checked, first + row, count);
        memory.fillFixed(plan, gather, row);
      } while (!plan.isStable() && awaitStable(plan.changingRank()));
      tally();
      row += count;
    } while (row < rows);
  }

  /** Returns the number of rows per read, limited by the staging memory for remote rows. */
  private int windowRows(Placement placement) {
    return RowLocator.windowRows(placement, variable.schema().fixedBytes());
  }

  /**
   * Returns the number of rows per read of a batch: without remote rows, the casts limit it to a
   * cache.
   */
  private int batchWindowRows(Placement placement) {
    return placement.hasRemote() ? windowRows(placement) : gather.windowRows();
  }

  private void checkRagged(Placement placement, int rows) {
    int maxRows = ReadPlan.maxRows(placement);
    if (rows > maxRows) {
      throw new IllegalArgumentException(
          "%,d ragged rows of \"%s\", some of them remote: read at most %,d rows a batch"
              .formatted(rows, variable.name(), maxRows));
    }
  }

  /**
   * Reads rows of the only selected field, which must be fixed, into a tensor: its row i receives
   * row {@code indices[i]}.
   *
   * @param destination writable tensor {@code [indices.length, shape...]} of exactly the field's
   *     type
   * @param indices global indices of rows, in any order
   * @throws IndexOutOfBoundsException if an index is out of range; the message names it, and
   *     nothing is read
   * @throws IllegalArgumentException if the destination does not match the field
   */
  public void getBatch(Tensor destination, long... indices) {
    Objects.requireNonNull(destination, "destination is null");
    Objects.requireNonNull(indices, "indices is null");
    Field field = checkDestination(destination, indices.length);
    pass.enter(this);
    try {
      long start = begin();
      Placement placement = variable.placement();
      int count = check(placement, indices);
      if (destination.memory().aim(target, kernel) && !pinsForDisk(placement)) {
        copyInWindows(placement, count);
      } else {
        copyInPieces(placement, destination, field.bytes(), count);
      }
      count(start, count, (long) count * field.bytes());
    } finally {
      target.clear();
      pass.exit();
    }
  }

  /**
   * Returns whether a copy would pin an array, which blocks the garbage collector, during disk
   * reads.
   */
  private boolean pinsForDisk(Placement placement) {
    return kernel != null && target.isArray() && placement.isPaged();
  }

  private void copyInWindows(Placement placement, int rows) {
    int window = windowRows(placement);
    for (int row = 0; row < rows; ) {
      row += copy(placement, row, checked, row, Math.min(window, rows - row));
    }
  }

  /**
   * Copies rows to the target.
   *
   * @return number of rows copied; less than {@code count} if their records do not fit in one read
   */
  private int copy(Placement placement, int targetRow, long[] indices, int offset, int count) {
    int copied;
    do {
      copied =
          locator.locateWithin(placement, indices, offset, count, RowLocator.RAGGED_WINDOW_BYTES);
      if (!variable.schema().isFixed()) {
        plan.checkRecords(variable.schema().prefixBytes());
      }
      gather.plain().copy(plan, oneTarget, targetRow);
    } while (!plan.isStable() && awaitStable(plan.changingRank()));
    tally();
    return copied;
  }

  /**
   * Copies through a piece that fits in a cache, because Java arrays cannot take unaligned rows and
   * must not be pinned while rows are read from a disk.
   */
  private void copyInPieces(Placement placement, Tensor destination, int rowBytes, int rows) {
    int pieceBytes = placement.hasRemote() ? REMOTE_PIECE_BYTES : PIECE_BYTES;
    int pieceRows = Math.min(windowRows(placement), Math.max(1, pieceBytes / rowBytes));
    if (piece == null) {
      piece = new GrowingBuffer();
    }
    target.set(piece, (long) Math.min(pieceRows, rows) * rowBytes);
    for (int row = 0; row < rows; ) {
      int count = copy(placement, 0, checked, row, Math.min(pieceRows, rows - row));
      destination.memory().write((long) row * rowBytes, piece.buffer(), 0, count * rowBytes);
      row += count;
    }
  }

  /**
   * Reads consecutive rows of the only selected field, which must be fixed. The rows may lie in
   * several shards.
   *
   * @param destination writable tensor {@code [rows, shape...]} of exactly the field's type
   * @param start global index of the first row
   * @throws IndexOutOfBoundsException if a row is outside [0, rows); nothing is read then
   * @throws IllegalArgumentException if the destination does not match the field
   */
  public void get(Tensor destination, long start) {
    Objects.requireNonNull(destination, "destination is null");
    Field field = checkDestination(destination, destination.rows());
    pass.enter(this);
    try {
      Placement placement = variable.placement();
      long count = destination.rows();
      placement.check(start, count, variable.name());
      if (count == 1 && field.bytes() <= SMALL_BYTES && getSmall(placement, destination, start)) {
        return;
      }
      long since = begin();
      int offset = variable.schema().fixedOffset(fields.position(0));
      boolean whole = variable.schema().size() == 1;
      long done = 0;
      while (done < count) {
        long maxRows = whole ? count - done : 1;
        if (placement.segment(placement.extents().extentOf(start + done)) == null) {
          done +=
              getRemote(placement, destination, field.bytes(), start + done, done, count - done);
          continue;
        }
        done += getRun(placement, destination, field.bytes(), offset, start + done, done, maxRows);
      }
      count(since, count, count * field.bytes());
    } finally {
      pass.exit();
    }
  }

  /**
   * Reads one row. Reading the clock twice takes longer than the copy, so one read in {@link
   * #SMALL_TIMED_EVERY} is timed and stands for all reads since the last timed one.
   *
   * @return false if the row is not in local memory
   */
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
    ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
    int position = Segment.positionOf(place) + variable.schema().fixedOffset(fields.position(0));
    stableWait.begin();
    long version;
    do {
      version = segment.version();
      destination.memory().write(0, chunk, position, bytes);
    } while (!segment.validate(version) && awaitStable(extents.rank(extent)));
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

  /** Copies rows of one remote extent and returns their number. */
  private long getRemote(
      Placement placement,
      Tensor destination,
      int rowBytes,
      long row,
      long destinationRow,
      long maxRows) {
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
    if (piece == null) {
      piece = new GrowingBuffer();
    }
    target.set(piece, (long) requested * rowBytes);
    locator.begin(); // a new deadline, because a run may have any size
    int count = copy(placement, 0, consecutive, 0, requested);
    destination.memory().write(destinationRow * rowBytes, piece.buffer(), 0, count * rowBytes);
    return count;
  }

  /** Copies a run of rows in one chunk and returns their number. */
  private long getRun(
      Placement placement,
      Tensor destination,
      int rowBytes,
      int offset,
      long row,
      long destinationRow,
      long maxRows) {
    ExtentMap extents = placement.extents();
    int extent = extents.extentOf(row);
    Segment segment = placement.segment(extent);
    long rowInSegment = row - extents.firstRow(extent);
    long place = segment.place(rowInSegment);
    ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
    int position = Segment.positionOf(place);
    long left = Math.min(maxRows, extents.rows(extent) - rowInSegment);
    int atOnce = chunk.capacity() - position;
    if (segment.isPaged()) {
      atOnce = Math.min(atOnce, PAGED_RUN_BYTES);
    }
    long run = Math.min(left, Math.max(1, atOnce / rowBytes));
    int bytes = (int) run * rowBytes;
    long version;
    do {
      version = segment.version();
      destination.memory().write(destinationRow * rowBytes, chunk, position + offset, bytes);
    } while (!segment.validate(version) && awaitStable(extents.rank(extent)));
    rowsByPath[placement.path(extent).index()] += run;
    return run;
  }

  private Field checkDestination(Tensor destination, long rows) {
    Field field = fields.field(0);
    if (fields.size() != 1 || field.isRagged() || fields.hasCasts()) {
      throw new IllegalArgumentException(
          "a tensor holds one fixed field without a cast; this reader of \"%s\" reads %s%s: select one field with reader(name), or read into a batch"
              .formatted(
                  variable.name(),
                  IntStream.range(0, fields.size()).mapToObj(fields::field).toList(),
                  fields.hasCasts() ? " with casts" : ""));
    }
    if (!destination.hasRowsOf(field) || destination.rows() != rows) {
      throw new IllegalArgumentException(
          "the destination is %s, but %d rows of %s need %s[%d%s]"
              .formatted(destination, rows, field, field.dtype(), rows, innerShape(field)));
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

  private boolean awaitStable(int changingRank) {
    stableWait.pause(changingRank);
    return true;
  }

  /** Resets the row counts and returns the start time of a read in nanoseconds. */
  private long begin() {
    locator.begin();
    Arrays.fill(rowsByPath, 0);
    stableWait.begin();
    return System.nanoTime();
  }

  /** Adds the rows of the plan to the row counts of this read. */
  private void tally() {
    for (int path = 0; path < rowsByPath.length; path++) {
      rowsByPath[path] += plan.rowsBy(path);
    }
  }

  private void count(long start, long rows, long bytes) {
    long nanos = System.nanoTime() - start;
    for (int path = 0; path < rowsByPath.length; path++) {
      if (rowsByPath[path] > 0) {
        double share = (double) rowsByPath[path] / rows;
        long part = Math.round(nanos * share);
        counters.count(path, rowsByPath[path], Math.round(bytes * share), part, part);
      }
    }
  }

  /**
   * {@return the memory in bytes that this reader holds besides its batches: staging memory for
   * remote rows and for casts} Call it from the reading thread.
   */
  public long workingBytes() {
    return locator.memoryBytes()
        + gather.memoryBytes()
        + (piece == null ? 0 : piece.buffer().capacity());
  }

  /**
   * {@return the bytes of the records that this reader has received over a network} Records are
   * transferred whole, even if only some fields are read; a repeated row is transferred once per
   * read. Call it from the reading thread.
   */
  public long fetchedBytes() {
    return plan.fetchedBytes();
  }

  /**
   * {@return a human-readable text that names the process or rank that the current read waits for,
   * and the waiting time; empty if it does not wait} Any thread may call this.
   */
  public String waitsFor() {
    String remote = plan.waitsFor();
    return remote.isEmpty() ? stableWait.describe() : remote;
  }

  /**
   * {@return the statistics of this reader for a path} Any thread may call this.
   *
   * @param path way by which rows were read
   */
  public ReadStatistics statistics(ReadPath path) {
    Objects.requireNonNull(path, "path is null");
    return counters.statistics(path);
  }

  /** Frees the idle batches; open batches are freed when they are closed. Idempotent. */
  @Override
  public void close() {
    if (pass.retire(this)) {
      variable.forget(this);
      Cleanup.runAll(
          Stream.of(
              pool::close,
              () -> {
                if (piece != null) {
                  piece.close();
                }
              },
              gather::close,
              locator::close));
    }
  }

  @Override
  public String toString() {
    return "Reader[\"%s\"]".formatted(variable.name());
  }
}
