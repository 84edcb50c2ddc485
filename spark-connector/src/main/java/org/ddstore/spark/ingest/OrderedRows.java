// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.Partition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.layout.ExtentMap;
import org.ddstore.spark.failure.TaskResults;
import org.ddstore.spark.ingest.SliceRdd.Slice;

/** Rows in global order: the concatenated, counted partitions of an RDD. */
final class OrderedRows {
  private final RDD<?> rdd;
  private final RowReader.Format format;
  private final int fields;
  private final List<SourcePartition> partitions;
  private final long[] counts;
  private final boolean stored;

  /**
   * @param stored whether the blocks of the RDD must be released
   */
  OrderedRows(
      RDD<?> rdd,
      RowReader.Format format,
      int fields,
      List<SourcePartition> partitions,
      long[] counts,
      boolean stored) {
    this.rdd = rdd;
    this.format = format;
    this.fields = fields;
    this.partitions = partitions;
    this.counts = counts;
    this.stored = stored;
  }

  RowReader.Format format() {
    return format;
  }

  long rows() {
    return Arrays.stream(counts).sum();
  }

  /**
   * Returns an RDD of one partition per rank, followed by empty partitions.
   *
   * @param rowBytes mean size of a row
   */
  RDD<InternalRow> shards(int ranks, int allPartitions, long rowBytes) {
    Slice[][] slices = balanced(ranks, rowBytes);
    Slice[][] all = Arrays.copyOf(slices, allPartitions);
    Arrays.fill(all, ranks, allPartitions, new Slice[0]);
    return read(all);
  }

  /**
   * Returns an RDD of one partition per chosen rank.
   *
   * @param rowBytes mean size of a row
   */
  RDD<InternalRow> shardsOf(int ranks, long rowBytes, int... chosen) {
    Slice[][] slices = balanced(ranks, rowBytes);
    return read(Arrays.stream(chosen).mapToObj(rank -> slices[rank]).toArray(Slice[][]::new));
  }

  private Slice[][] balanced(int ranks, long rowBytes) {
    long rows = 0;
    for (long count : counts) {
      rows = Math.addExact(rows, count);
    }
    Slice[][] shards = new Slice[ranks][];
    int at = 0;
    long first = 0;
    for (int rank = 0; rank < ranks; rank++) {
      long position = ExtentMap.balancedStart(rows, rank, ranks);
      long end = ExtentMap.balancedStart(rows, rank + 1, ranks);
      List<Slice> slices = new ArrayList<>();
      while (position < end) {
        long last = first + counts[at];
        if (position >= last) {
          first = last;
          at++;
          continue;
        }
        long take = Math.min(end, last) - position;
        slices.add(Slice.of(partitions.get(at), position - first, take, counts[at], rowBytes));
        position += take;
      }
      shards[rank] = slices.toArray(new Slice[0]);
    }
    return shards;
  }

  RDD<InternalRow> partitionsInOrder() {
    Slice[][] slices = new Slice[counts.length][];
    for (int i = 0; i < slices.length; i++) {
      slices[i] = new Slice[] {first(i, counts[i])};
    }
    return read(slices);
  }

  long[] firstPositions() {
    long[] first = new long[counts.length];
    for (int i = 1; i < first.length; i++) {
      first[i] = first[i - 1] + counts[i - 1];
    }
    return first;
  }

  /** Returns the first rows of up to {@code most} evenly spread partitions, as one partition. */
  RDD<InternalRow> sample(int most, int rowsOfEach) {
    int[] filled = IntStream.range(0, counts.length).filter(i -> counts[i] > 0).toArray();
    int taken = Math.min(most, filled.length);
    Slice[] slices = new Slice[taken];
    for (int i = 0; i < taken; i++) {
      int at = filled[(int) ((long) i * filled.length / taken)];
      slices[i] = first(at, Math.min(rowsOfEach, counts[at]));
    }
    return read(new Slice[][] {slices});
  }

  private Slice first(int partition, long take) {
    return Slice.of(
        partitions.get(partition), 0, take, counts[partition], ScanMemory.UNKNOWN_ROW_BYTES);
  }

  private RDD<InternalRow> read(Slice[][] slices) {
    return new SliceRdd.Rows(rdd, format, fields, slices);
  }

  /** Counts the rows of partitions in a job, with several partitions per task. */
  static long[] count(
      RDD<?> rdd, RowReader.Format format, int fields, List<SourcePartition> partitions) {
    int size = partitions.size();
    if (size == 0) {
      return new long[0];
    }
    boolean fromFooters = fields == 0 && format == RowReader.Format.BATCHES;
    int tasks = Math.min(size, 4 * rdd.sparkContext().defaultParallelism());
    Slice[][] groups = new Slice[tasks][];
    for (int task = 0; task < tasks; task++) {
      groups[task] =
          partitions
              .subList((int) ((long) task * size / tasks), (int) ((task + 1L) * size / tasks))
              .stream()
              .map(source -> Slice.whole(source, fromFooters ? 0 : source.heldBytes()))
              .toArray(Slice[]::new);
    }
    SliceRdd.Counts counting = new SliceRdd.Counts(rdd, format, fields, groups);
    return TaskResults.of(counting, (task, counted) -> counted.next()).stream()
        .flatMapToLong(Arrays::stream)
        .toArray();
  }

  void release() {
    if (stored) {
      rdd.unpersist(false);
    }
  }

  /**
   * A partition of an RDD at a known position in the source order.
   *
   * @param place description such as {@code file:/data/a.parquet from byte 134217728}
   * @param computation random number of {@link RowChunks} from the time when the partition was
   *     stored, verified by all readers; {@link #REPEATABLE} for a partition that always has the
   *     same rows
   * @param heldBytes part of a file that a scan of the partition holds in memory at once
   */
  record SourcePartition(Partition partition, String place, long computation, long heldBytes)
      implements Serializable {
    static final long REPEATABLE = 0;

    SourcePartition(Partition partition, String place) {
      this(partition, place, REPEATABLE, 0);
    }

    boolean isStored() {
      return computation != REPEATABLE;
    }
  }
}
