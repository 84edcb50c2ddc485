// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.TaskCompletionListener;
import org.ddstore.RecordMemory;
import org.ddstore.Variable;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSnapshots;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The rows of one task in index order, batch by batch. Runs of rows in accessible memory are read
 * in place, without a copy; single rows and rows of other hosts are read with one call per batch.
 * Not thread-safe; batches stay valid as described in {@link ReaderThreads}.
 */
final class RowBatches implements AutoCloseable {
  /** Minimum length of a run read in place; shorter runs are cheaper in a combined read. */
  private static final long MIN_ROWS_IN_PLACE = 32;

  /** Maximum batch of fixed records in place: no per-row cost, and tasks stay interruptible. */
  private static final int MAX_FIXED_ROWS = 1 << 16;

  /** Maximum batch of ragged records in place, whose addresses fit into a cache. */
  private static final int MAX_RAGGED_ROWS = 1 << 12;

  private final StoreReader store;
  private final Variable variable;
  private final Schema schema;
  private final List<ReadColumn> columns;
  private final int[] fields;
  private final RowRanges rows;
  private final BulkRowReader together;
  private final ReadCounts counts = new ReadCounts();
  private final List<RecordMemory> held = new ArrayList<>();
  private final ReaderThreads readers = new ReaderThreads();
  private int run;
  private long position;

  private RowBatches(
      StoreReader store, List<ReadColumn> columns, RowRanges rows, double bytesPerRow) {
    this.store = store;
    this.variable = store.rows();
    this.schema = variable.schema();
    this.columns = columns;
    this.rows = rows;
    this.fields =
        columns.stream()
            .filter(column -> column != null)
            .flatMap(column -> column.fields().stream())
            .mapToInt(Integer::intValue)
            .distinct()
            .toArray();
    this.together = new BulkRowReader(variable, bytesPerRow, counts, fields);
    this.position = rows.size() == 0 ? 0 : rows.from(0);
  }

  /**
   * Attaches to the store. Memory that was read stays attached until the task ends, because Spark
   * can still read its rows after this is closed, and longer if another thread still reads it.
   */
  static RowBatches open(
      StoreHandle handle, ReadSchema columns, RowRanges rows, double bytesPerRow) {
    StoreReader store = handle.attachUncounted();
    try {
      RowBatches batches =
          new RowBatches(store, columns.columns(handle.schema()), rows, bytesPerRow);
      StoreMetrics.Watch watch =
          StoreMetrics.watch(StoreSnapshots.of(handle), "scan", batches.counts::statistics);
      whenTaskEnds(
          () -> {
            watch.close();
            batches.end();
          });
      return batches;
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  ReadCounts counts() {
    return counts;
  }

  /**
   * Returns the next batch, valid until the following call; null at the end. At the end copied rows
   * are freed, because Spark before 4.2 closes readers only when the task ends, and a task can have
   * one reader for each of many partitions.
   *
   * @throws IllegalStateException if the task has ended
   */
  ColumnarBatch next() {
    readers.enterNext();
    if (run == rows.size()) {
      close();
      return null;
    }
    if (fields.length == 0) {
      return indices();
    }
    RecordMemory memory = memory(position);
    return memory != null && rows.to(run) - position >= MIN_ROWS_IN_PLACE
        ? inPlace(memory)
        : together();
  }

  /** Returns a batch of rows without stored fields: only the index, or no column at all. */
  private ColumnarBatch indices() {
    long first = position;
    int count = (int) Math.min(MAX_FIXED_ROWS, rows.to(run) - first);
    advance(count);
    return batch(null, IndexVector.from(first), count);
  }

  private ColumnarBatch inPlace(RecordMemory memory) {
    long first = position;
    long end = Math.min(rows.to(run), memory.firstRow() + memory.rows());
    long maxRows = schema.isFixed() ? Math.min(MAX_FIXED_ROWS, memory.run(first)) : MAX_RAGGED_ROWS;
    int count = (int) Math.min(end - first, maxRows);
    RecordPlaces places = new RecordPlaces(memory, schema, first, count, fields);
    counts.add(memory.path(), count, bytes(places, count));
    advance(count);
    return batch(places, IndexVector.from(first), count);
  }

  private long bytes(FieldPlaces places, int count) {
    long bytes = 0;
    for (int index : fields) {
      Field field = schema.field(index);
      long values = count;
      if (field.isRagged()) {
        values = 0;
        for (int length : places.counts(index)) {
          values += length;
        }
      }
      bytes += values * field.bytes();
    }
    return bytes;
  }

  /** Reads rows in one call; large ragged rows can reduce their number. */
  private ColumnarBatch together() {
    int firstRun = run;
    long first = position;
    long[] wanted = nextTogether();
    FieldPlaces places = together.read(wanted);
    int count = together.rows();
    if (count < wanted.length) {
      run = firstRun;
      position = first;
      for (int remaining = count; remaining > 0; ) {
        int take = (int) Math.min(remaining, rows.to(run) - position);
        advance(take);
        remaining -= take;
      }
    }
    return batch(places, IndexVector.of(Arrays.copyOf(wanted, count)), count);
  }

  private long[] nextTogether() {
    long[] indices = new long[together.maxRows()];
    int count = 0;
    while (count < indices.length && run < rows.size()) {
      long remaining = rows.to(run) - position;
      if (count > 0 && remaining >= MIN_ROWS_IN_PLACE && memory(position) != null) {
        break;
      }
      int take = (int) Math.min(indices.length - count, remaining);
      for (int i = 0; i < take; i++) {
        indices[count++] = position + i;
      }
      advance(take);
    }
    return Arrays.copyOf(indices, count);
  }

  private void advance(long count) {
    position += count;
    if (position == rows.to(run) && ++run < rows.size()) {
      position = rows.from(run);
    }
  }

  /**
   * Returns a batch.
   *
   * @param unleased places of the stored fields; null without any
   */
  private ColumnarBatch batch(FieldPlaces unleased, IndexVector index, int count) {
    FieldPlaces places = unleased == null ? null : unleased.readBy(readers);
    ColumnVector[] vectors = new ColumnVector[columns.size()];
    for (int i = 0; i < vectors.length; i++) {
      ReadColumn column = columns.get(i);
      vectors[i] = column == null ? index : column.vector().apply(places);
    }
    return new ColumnarBatch(vectors, count);
  }

  /** Returns the memory that holds a row; null if it is remote. */
  private RecordMemory memory(long row) {
    for (int i = held.size() - 1; i >= 0; i--) {
      if (held.get(i).holds(row)) {
        return held.get(i);
      }
    }
    Optional<RecordMemory> found = variable.memory(row);
    found.ifPresent(held::add);
    return found.orElse(null);
  }

  /**
   * Frees copied rows, unless another thread can still read them; rows in place stay valid until
   * the task ends.
   */
  @Override
  public void close() {
    readers.ifAlone(together::close);
  }

  private void end() {
    readers.end(release(together, held, store));
  }

  /** Returns the release action; static, because it must not refer to the awaited threads. */
  private static Runnable release(
      BulkRowReader together, List<RecordMemory> held, StoreReader store) {
    return () -> {
      try (store) {
        together.close();
        held.forEach(RecordMemory::close);
      }
    };
  }

  /**
   * Registers an action for the end of the task of the calling thread, in success or failure.
   *
   * @throws IllegalStateException if the calling thread does not run a task
   */
  private static void whenTaskEnds(Runnable action) {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException("stores can be scanned only by Spark tasks");
    }
    TaskCompletionListener listener = context -> action.run();
    task.addTaskCompletionListener(listener);
  }
}
