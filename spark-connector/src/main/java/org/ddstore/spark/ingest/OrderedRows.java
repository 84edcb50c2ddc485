package org.ddstore.spark.ingest;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.reflect.ClassTag$;

/** Rows in their global order: counted partitions of an RDD, one after the other. */
final class OrderedRows {
  private final RDD<?> rdd;
  private final RowFormat format;
  private final int fields;
  private final List<SourcePartition> partitions;
  private final long[] counts;
  private final boolean stored;

  /**
   * @param fields of the rows
   * @param counts rows of each partition
   * @param stored whether the RDD's blocks must be released in the end
   */
  OrderedRows(
      RDD<?> rdd,
      RowFormat format,
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

  RowFormat format() {
    return format;
  }

  long rows() {
    return Arrays.stream(counts).sum();
  }

  /** One partition per rank, then empty ones. */
  RDD<InternalRow> shards(int ranks, int allPartitions) {
    Slice[][] slices = Slice.balanced(partitions, counts, ranks);
    Slice[][] all = Arrays.copyOf(slices, allPartitions);
    Arrays.fill(all, ranks, allPartitions, new Slice[0]);
    return read(all);
  }

  /** One partition for each of some of the ranks. */
  RDD<InternalRow> shardsOf(int ranks, int... chosen) {
    Slice[][] slices = Slice.balanced(partitions, counts, ranks);
    return read(Arrays.stream(chosen).mapToObj(rank -> slices[rank]).toArray(Slice[][]::new));
  }

  /** Every partition in its place, one slice each. */
  RDD<InternalRow> partitionsInOrder() {
    Slice[][] slices = new Slice[counts.length][];
    for (int i = 0; i < slices.length; i++) {
      slices[i] = new Slice[] {new Slice(partitions.get(i), 0, counts[i], counts[i])};
    }
    return read(slices);
  }

  /** The global index of the first row of each partition. */
  long[] firstPositions() {
    long[] first = new long[counts.length];
    for (int i = 1; i < first.length; i++) {
      first[i] = first[i - 1] + counts[i - 1];
    }
    return first;
  }

  /** The first rows of up to {@code most} partitions spread over all, as one partition. */
  RDD<InternalRow> sample(int most, int rowsOfEach) {
    int[] filled = IntStream.range(0, counts.length).filter(i -> counts[i] > 0).toArray();
    int taken = Math.min(most, filled.length);
    Slice[] slices = new Slice[taken];
    for (int i = 0; i < taken; i++) {
      int at = filled[(int) ((long) i * filled.length / taken)];
      slices[i] = new Slice(partitions.get(at), 0, Math.min(rowsOfEach, counts[at]), counts[at]);
    }
    return read(new Slice[][] {slices});
  }

  private RDD<InternalRow> read(Slice[][] slices) {
    return new ShardRdd(context(), rdd, format, fields, slices);
  }

  private SparkContext context() {
    return rdd.sparkContext();
  }

  /** Counts the rows of partitions in a job; several of them to a task. */
  static long[] count(RDD<?> rdd, RowFormat format, int fields, List<SourcePartition> partitions) {
    int size = partitions.size();
    if (size == 0) {
      return new long[0];
    }
    int tasks = Math.min(size, 4 * rdd.sparkContext().defaultParallelism());
    Slice[][] groups = new Slice[tasks][];
    for (int task = 0; task < tasks; task++) {
      groups[task] =
          partitions
              .subList((int) ((long) task * size / tasks), (int) ((task + 1L) * size / tasks))
              .stream()
              .map(Slice::whole)
              .toArray(Slice[]::new);
    }
    CountRdd counting = new CountRdd(rdd.sparkContext(), rdd, format, fields, groups);
    return new JavaRDD<>(counting, ClassTag$.MODULE$.<long[]>apply(long[].class))
        .collect().stream().flatMapToLong(Arrays::stream).toArray();
  }

  void release() {
    if (stored) {
      rdd.unpersist(false);
    }
  }
}
