package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.RecordMemory;
import org.ddstore.Variable;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSnapshots;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The rows of one task, batch by batch, in the order of their indices. Runs of rows that memory
 * reaches are read where they lie, without a copy; single rows, and rows of other hosts, come
 * together by one read a batch. One thread at a time; what it has read stays valid as {@link
 * ReaderThreads} says.
 */
final class RowBatches implements AutoCloseable {
  /** Shorter runs are cheaper together. */
  private static final long LEAST_IN_PLACE = 32;

  /** Of fixed records in place: nothing is made for a row, and the task can be ended between. */
  private static final int MOST_FIXED = 1 << 16;

  /** Of ragged records in place: their addresses stay in a cache. */
  private static final int MOST_RAGGED = 1 << 12;

  private final StoreReader store;
  private final Variable variable;
  private final Schema schema;
  private final List<ReadColumn> columns;
  private final int[] fields;
  private final RowRanges rows;
  private final TogetherReader together;
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
    this.together = new TogetherReader(variable, bytesPerRow, counts, fields);
    this.position = rows.size() == 0 ? 0 : rows.from(0);
  }

  /**
   * Attaches to the store. What memory was read stays attached until the task ends, because Spark
   * may still look at rows of it when this is closed, and longer if another thread reads it then.
   */
  static RowBatches open(
      StoreHandle handle, ReadSchema columns, RowRanges rows, double bytesPerRow) {
    StoreReader store = handle.attachUncounted();
    try {
      RowBatches batches =
          new RowBatches(store, columns.columns(handle.schema()), rows, bytesPerRow);
      StoreMetrics.Watch watch =
          StoreMetrics.watch(StoreSnapshots.of(handle), "scan", batches.counts::statistics);
      TaskEnd.run(
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
   * The next batch, valid until the one after it is asked for; null if there is none. What was
   * copied is freed then: Spark before 4.2 closes a reader when its task ends, and a task may have
   * one for each of many partitions.
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
    return memory != null && rows.to(run) - position >= LEAST_IN_PLACE
        ? inPlace(memory)
        : together();
  }

  /** Rows of which only the index is wanted, or not even that. */
  private ColumnarBatch indices() {
    long first = position;
    int count = (int) Math.min(MOST_FIXED, rows.to(run) - first);
    advance(count);
    return batch(null, IndexVector.from(first), count);
  }

  private ColumnarBatch inPlace(RecordMemory memory) {
    long first = position;
    long end = Math.min(rows.to(run), memory.firstRow() + memory.rows());
    long most = schema.isFixed() ? Math.min(MOST_FIXED, memory.run(first)) : MOST_RAGGED;
    int count = (int) Math.min(end - first, most);
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

  /** Ragged rows may be so much larger than the mean that fewer come together. */
  private ColumnarBatch together() {
    int firstRun = run;
    long first = position;
    long[] wanted = nextTogether();
    FieldPlaces places = together.read(wanted);
    int count = together.rows();
    if (count < wanted.length) {
      run = firstRun;
      position = first;
      for (int left = count; left > 0; ) {
        int take = (int) Math.min(left, rows.to(run) - position);
        advance(take);
        left -= take;
      }
    }
    return batch(places, IndexVector.of(Arrays.copyOf(wanted, count)), count);
  }

  private long[] nextTogether() {
    long[] indices = new long[together.mostRows()];
    int count = 0;
    while (count < indices.length && run < rows.size()) {
      long left = rows.to(run) - position;
      if (count > 0 && left >= LEAST_IN_PLACE && memory(position) != null) {
        break;
      }
      int take = (int) Math.min(indices.length - count, left);
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

  private ColumnarBatch batch(FieldPlaces unleased, IndexVector index, int count) {
    FieldPlaces places = new LeasedPlaces(unleased, readers);
    ColumnVector[] vectors = new ColumnVector[columns.size()];
    for (int i = 0; i < vectors.length; i++) {
      ReadColumn column = columns.get(i);
      vectors[i] = column == null ? index : column.vector().apply(places);
    }
    return new ColumnarBatch(vectors, count);
  }

  /** The memory that holds a row; null if it must be asked for. */
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
   * Frees what was copied, unless another thread may still read it; rows in place stay as they are
   * until the task ends.
   */
  @Override
  public void close() {
    readers.ifAlone(together::close);
  }

  private void end() {
    readers.end(release(together, held, store));
  }

  /** Static, because it must not refer to the threads that it waits for. */
  private static Runnable release(
      TogetherReader together, List<RecordMemory> held, StoreReader store) {
    return () -> {
      try (store) {
        together.close();
        held.forEach(RecordMemory::close);
      }
    };
  }
}
