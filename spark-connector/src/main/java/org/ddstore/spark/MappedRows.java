// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.task.TaskPartition;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The RDD behind {@link ResidentStore#map}: a partition for the rows of each shard, which prefers
 * an executor that holds them. Finds the places of the rows when its tasks are sent.
 */
final class MappedRows extends RDD<Row> {
  private static final long serialVersionUID = 1L;

  private final transient ResidentStore store;
  private final BatchFunction function;
  private final int batchSize;
  private final Places places;
  private final List<Span> spans;

  private record Span(long firstRow, long endRow) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  private MappedRows(ResidentStore store, BatchFunction function, int batchSize, List<Span> spans) {
    super(
        store.origin().session().sparkContext(),
        MappedRows.<Dependency<?>>seq(List.of()),
        ClassTag$.MODULE$.<Row>apply(Row.class));
    this.store = store;
    this.function = function;
    this.batchSize = batchSize;
    this.spans = spans;
    this.places = new Places(() -> handle(store, spans), null);
  }

  /** Returns the DataFrame of {@link ResidentStore#map}. */
  static Dataset<Row> frame(
      ResidentStore store, BatchFunction function, StructType schema, int batchSize) {
    if (batchSize < 1) {
      throw new IllegalArgumentException("batch size %d below 1".formatted(batchSize));
    }
    List<Span> spans = new ArrayList<>();
    byFirstRow(store.shards())
        .forEach((first, copies) -> spans.add(new Span(first, first + copies.get(0).rows())));
    return store
        .origin()
        .session()
        .createDataFrame(new MappedRows(store, function, batchSize, spans).toJavaRDD(), schema);
  }

  /** Returns the copies of each nonempty shard, in row order. */
  private static Map<Long, List<ResidentShard>> byFirstRow(List<ResidentShard> shards) {
    Map<Long, List<ResidentShard>> copies = new TreeMap<>();
    for (ResidentShard shard : shards) {
      if (shard.rows() > 0) {
        copies.computeIfAbsent(shard.firstRow(), first -> new ArrayList<>()).add(shard);
      }
    }
    return copies;
  }

  /** Returns the current handle; throws if the rows are dropped or lost. */
  private static StoreHandle handle(ResidentStore store, List<Span> spans) {
    if (store.isDropped()) {
      throw new IllegalStateException(
          "store \"%s\" was dropped or replaced after map(..): map the new store"
              .formatted(store.name()));
    }
    Map<Long, List<ResidentShard>> copies = byFirstRow(store.shards());
    for (Span span : spans) {
      List<ResidentShard> shards = copies.getOrDefault(span.firstRow(), List.of());
      if (!shards.isEmpty() && shards.stream().allMatch(ResidentShard::isLost)) {
        throw new RankLostException(
            shards.get(0).rank(),
            "rows [%d, %d) of store \"%s\" were lost with executor %s: call repair(), or run a task on the store, and repeat the action"
                .formatted(
                    span.firstRow(), span.endRow(), store.name(), shards.get(0).executorId()));
      }
    }
    return store.handle();
  }

  /** The places of the rows: found when this is serialized, which Spark does for each job. */
  private static final class Places implements Serializable {
    private static final long serialVersionUID = 1L;

    private final transient Supplier<StoreHandle> now;
    private final StoreHandle handle;

    Places(Supplier<StoreHandle> now, StoreHandle handle) {
      this.now = now;
      this.handle = handle;
    }

    private Object writeReplace() {
      return now == null ? this : new Places(null, now.get());
    }
  }

  private static <T> Seq<T> seq(List<T> items) {
    return CollectionConverters.asScala(items).toSeq();
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] partitions = new Partition[spans.size()];
    Arrays.setAll(partitions, i -> TaskPartition.of(i, spans.get(i)));
    return partitions;
  }

  @Override
  public Seq<String> getPreferredLocations(Partition partition) {
    Span span = TaskPartition.content(Span.class, partition);
    return seq(
        store.shards().stream()
            .filter(shard -> shard.firstRow() == span.firstRow() && shard.rows() > 0)
            .filter(shard -> !shard.isLost())
            .map(ResidentShard::preferredLocation)
            .distinct()
            .toList());
  }

  @Override
  public scala.collection.Iterator<Row> compute(Partition partition, TaskContext context) {
    Span span = TaskPartition.content(Span.class, partition);
    Output output = new Output(places.handle, function, span, batchSize);
    context.addTaskCompletionListener((TaskCompletionListener) ended -> output.close());
    return CollectionConverters.asScala(output);
  }

  /** The rows that a mapper makes of a partition, batch by batch. Used by one thread. */
  private static final class Output implements Iterator<Row>, AutoCloseable {
    private final StoreHandle handle;
    private final BatchFunction function;
    private final int batchSize;
    private final long endRow;
    private final Queue<Row> rows = new ArrayDeque<>();
    private long nextRow;
    private StoreReader store;
    private Reader reader;
    private BatchMapper mapper;
    private boolean closed;

    Output(StoreHandle handle, BatchFunction function, Span span, int batchSize) {
      this.handle = handle;
      this.function = function;
      this.batchSize = batchSize;
      this.nextRow = span.firstRow();
      this.endRow = span.endRow();
    }

    @Override
    public boolean hasNext() {
      while (rows.isEmpty() && nextRow < endRow && !closed) {
        mapBatch();
      }
      if (rows.isEmpty()) {
        close();
      }
      return !rows.isEmpty();
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return rows.remove();
    }

    private void mapBatch() {
      long[] indices = new long[(int) Math.min(batchSize, endRow - nextRow)];
      Arrays.setAll(indices, i -> nextRow + i);
      try {
        open();
        try (Batch batch = reader.getBatch(indices)) {
          mapper.map(batch, nextRow, row -> add(row, indices.length));
        }
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw failed("map rows [%d, %d)".formatted(nextRow, nextRow + indices.length), e);
      }
      nextRow += indices.length;
    }

    private void add(Row row, int batchRows) {
      if (row == null) {
        throw new IllegalArgumentException(
            "the mapper of map(..) on store \"%s\" passes null to its output for rows [%d, %d), after %d rows: pass a Row"
                .formatted(handle.name(), nextRow, nextRow + batchRows, rows.size()));
      }
      rows.add(row);
    }

    private void open() throws Exception {
      if (mapper == null) {
        store = handle.attach();
        reader = store.rows().reader();
        mapper = function.open();
        if (mapper == null) {
          throw new IllegalArgumentException(
              "the function of map(..) on store \"%s\" returns null: return a mapper"
                  .formatted(handle.name()));
        }
      }
    }

    private DDStoreException failed(String action, Exception e) {
      return new DDStoreException(
          "store \"%s\": cannot %s: %s".formatted(handle.name(), action, e), e);
    }

    /** Closes the mapper and the readers. Idempotent. */
    @Override
    public void close() {
      if (closed) {
        return;
      }
      closed = true;
      Cleanup.runAll(
          Stream.of(
              this::closeMapper,
              () -> {
                if (reader != null) {
                  reader.close();
                }
              },
              () -> {
                if (store != null) {
                  store.close();
                }
              }));
    }

    private void closeMapper() {
      try {
        if (mapper != null) {
          mapper.close();
        }
      } catch (IOException e) {
        throw failed("close the mapper", e);
      }
    }
  }
}
