// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.GatherKernels;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.read.RecordGather;
import org.ddstore.types.Cleanup;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;

/**
 * A reader of the rows of one variable by global index, with all fields or a selection. One reader
 * per thread; many readers may read concurrently. Reads are one-sided: no other rank takes part. A
 * row that {@link DDStore#epochBegin()} is changing is read again and never returned torn.
 */
public final class Reader implements AutoCloseable {
  private final Variable variable;
  private final Projection fields;
  private final ReadGate.Pass pass;
  private final BatchMemory.Pool pool;
  private final RowLocator locator;
  private final RecordGather gather;
  private final CombinedRead combined;
  private final TensorReads tensors;
  private final ReadCounters counters = new ReadCounters();
  private long[] checked = new long[0];

  Reader(Variable variable, ReadGate.Pass pass, Projection fields) {
    this.variable = variable;
    this.fields = fields;
    this.pass = pass;
    this.pool = new BatchMemory.Pool(fields);
    GatherKernel kernel = GatherKernels.current();
    this.locator = new RowLocator(variable, kernel);
    this.gather = fields.newGather();
    this.combined = new CombinedRead(variable.schema(), locator, gather, counters);
    this.tensors = new TensorReads(variable, fields, locator, gather.plain(), counters, kernel);
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
      counters.end(start, count, batch.memory().valueBytes());
    } finally {
      pass.exit();
    }
  }

  private void checkArguments(Batch batch, long... indices) {
    Objects.requireNonNull(batch, "batch is null");
    Objects.requireNonNull(indices, "indices is null");
    if (!batch.isOf(pool)) {
      throw new IllegalArgumentException("batch does not belong to " + this + ": " + batch);
    }
  }

  /** Copies the indices, because the caller may change its array; returns their number. */
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
          "batches: %d, index arrays: %d; the numbers must be equal"
              .formatted(batches.length, indices.length));
    }
    for (long[] rows : indices) {
      Objects.requireNonNull(rows, "an element of indices is null");
    }
    for (Batch batch : batches) {
      Objects.requireNonNull(batch, "an element of batches is null");
      if (!batch.holds(fields)) {
        throw new IllegalArgumentException(
            "batch does not fit " + this + ": another variable, fields or casts: " + batch);
      }
    }
    pass.enter(this);
    try {
      long start = begin();
      Placement placement = variable.placement();
      int[] starts = checkAll(placement, indices);
      if (!combined.fill(placement, checked, batches, starts)) {
        for (int b = 0; b < batches.length; b++) {
          fill(placement, batches[b].memory(), starts[b], starts[b + 1] - starts[b]);
        }
      }
      long bytes = 0;
      for (Batch batch : batches) {
        bytes += batch.memory().valueBytes();
      }
      counters.end(start, starts[batches.length], bytes);
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
      counters.end(start, rows, batch.memory().valueBytes());
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

  /** Fills a batch like {@link #fill} with the first ragged rows that fit; returns their number. */
  private int fillWithin(Placement placement, BatchMemory memory, int maxRows, long maxBytes) {
    return read(
        placement,
        0,
        maxRows,
        maxBytes,
        located -> {
          memory.reserve(located.rows());
          memory.fill(located, gather);
        });
  }

  /** Reads the rows of checked indices [first, first + count) into a batch. */
  private void fill(Placement placement, BatchMemory memory, int first, int count) {
    memory.reserve(count);
    if (!variable.schema().isFixed()) {
      checkRagged(placement, count);
      read(placement, first, count, located -> memory.fill(located, gather));
      return;
    }
    int window = batchWindowRows(placement);
    int row = 0;
    do {
      int start = row;
      int rows = Math.min(window, count - row);
      read(placement, first + row, rows, located -> memory.fillFixed(located, gather, start));
      row += rows;
    } while (row < count);
  }

  private void read(Placement placement, int first, int count, RowLocator.Copy copy) {
    read(placement, first, count, ReadPlan.UNLIMITED_BYTES, copy);
  }

  /** Reads checked indices [first, first + count) like {@link RowLocator#read}; counts them. */
  private int read(
      Placement placement, int first, int count, long stagingBytes, RowLocator.Copy copy) {
    int rows = locator.read(placement, checked, first, count, stagingBytes, copy);
    counters.add(locator.plan());
    return rows;
  }

  /** Returns the number of rows per read, limited by the staging memory or the cache for casts. */
  private int batchWindowRows(Placement placement) {
    return placement.hasRemote()
        ? RowLocator.windowRows(placement, variable.schema().fixedBytes())
        : gather.windowRows();
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
    Field field = tensors.check(destination, indices.length);
    pass.enter(this);
    try {
      long start = begin();
      Placement placement = variable.placement();
      int count = check(placement, indices);
      tensors.gather(placement, destination, checked, count);
      counters.end(start, count, (long) count * field.bytes());
    } finally {
      pass.exit();
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
    Field field = tensors.check(destination, destination.rows());
    pass.enter(this);
    try {
      Placement placement = variable.placement();
      placement.check(start, destination.rows(), variable.name());
      tensors.run(placement, destination, field, start);
    } finally {
      pass.exit();
    }
  }

  private long begin() {
    locator.begin();
    return counters.begin();
  }

  /**
   * {@return the memory in bytes that this reader holds besides its batches: staging memory for
   * remote rows and for casts} Call it from the reading thread.
   */
  public long workingBytes() {
    return locator.memoryBytes() + gather.memoryBytes() + tensors.memoryBytes();
  }

  /**
   * {@return the bytes of the records that this reader has received over a network} Records are
   * transferred whole, even if only some fields are read; a repeated row is transferred once per
   * read. Call it from the reading thread.
   */
  public long fetchedBytes() {
    return locator.plan().remote().fetchedBytes();
  }

  /**
   * {@return a human-readable text that names the process or rank that the current read waits for,
   * and the waiting time; empty if it does not wait} Any thread may call this.
   */
  public String waitsFor() {
    return locator.waitsFor();
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

  /**
   * {@return the durations of one batch in 64, the first included} Reads into tensors of the caller
   * count if they read by index, or more than one small row. Any thread may call this.
   */
  public LatencyHistogram latency() {
    return counters.latency();
  }

  /** Frees the idle batches; open batches are freed when they are closed. Idempotent. */
  @Override
  public void close() {
    if (pass.retire(this)) {
      variable.readers().remove(this);
      Cleanup.runAll(Stream.of(pool::close, tensors::close, gather::close, locator::close));
    }
  }

  @Override
  public String toString() {
    return "Reader[\"%s\"]".formatted(variable.name());
  }
}
