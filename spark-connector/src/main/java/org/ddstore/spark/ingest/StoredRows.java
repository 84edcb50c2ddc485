// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.storage.StorageLevel;
import org.ddstore.spark.failure.TaskResults;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import org.ddstore.spark.ingest.SliceRdd.Slice;
import org.ddstore.spark.task.VersionedFunction;
import org.ddstore.spark.types.SourceChangedException;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Rows computed once and kept on the executors' disks, in partition order. If an executor that
 * holds some of them is lost, reads fail, because a recomputation could return different rows. If a
 * partition was computed twice, after a loss or by a speculative task, only the counted computation
 * is read (see {@link RowChunks}).
 */
final class StoredRows {
  private StoredRows() {}

  /** Computes the RDD and stores its rows, which must be unsafe rows of {@code fields} fields. */
  static OrderedRows store(RDD<InternalRow> rows, int fields) {
    return store(rows, fields, null);
  }

  /**
   * Computes an RDD that sorts numbered rows, and stores its rows.
   *
   * @param rows unsafe rows whose last field is the position before the sort
   * @param fields number of fields of a row, including the position
   * @param total number of rows before the sort
   * @throws SourceChangedException unless each position of [0, total) occurs exactly once
   */
  static OrderedRows storeSorted(RDD<InternalRow> rows, int fields, long total) {
    return store(rows, fields, new SortCheck(total));
  }

  private static OrderedRows store(RDD<InternalRow> rows, int fields, SortCheck check) {
    FlatMapFunction<Iterator<InternalRow>, byte[]> pack =
        partition ->
            CollectionConverters.asJava(
                new RowChunks.Packer(CollectionConverters.asScala(partition), fields));
    RDD<byte[]> chunks =
        new JavaRDD<>(rows, ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
            .mapPartitions(VersionedFunction.of(pack))
            .rdd();
    chunks.persist(StorageLevel.DISK_ONLY());
    chunks.localCheckpoint();
    boolean stored = false;
    try {
      List<PartitionCount> counted = count(chunks, fields, check);
      if (check != null) {
        check.verify(counted);
      }
      List<SourcePartition> partitions = new ArrayList<>();
      for (Partition partition : chunks.partitions()) {
        long computation = counted.get(partition.index()).computation();
        partitions.add(new SourcePartition(partition, place(partition.index()), computation, 0));
      }
      long[] counts = counted.stream().mapToLong(PartitionCount::rows).toArray();
      OrderedRows ordered =
          new OrderedRows(chunks, RowReader.Format.CHUNKS, fields, partitions, counts, true);
      stored = true;
      return ordered;
    } finally {
      if (!stored) { // Spark throws checked exceptions that it does not declare
        chunks.unpersist(false);
      }
    }
  }

  private static String place(int partition) {
    return "stored partition " + partition;
  }

  private static List<PartitionCount> count(RDD<byte[]> chunks, int fields, SortCheck check) {
    int partitions = chunks.getNumPartitions();
    return TaskResults.of(
        chunks,
        (index, partition) -> {
          RowChunks.Reader reader =
              new RowChunks.Reader(partition, fields, new SourcePartition(null, place(index)));
          return check == null
              ? PartitionCount.of(reader)
              : check.count(reader, fields - 1, index, partitions);
        });
  }

  /**
   * The report of a task about a partition that it has stored.
   *
   * @param high high half of the hash sum of {@link SortCheck}; 0 without a check
   * @param low low half of the hash sum
   */
  record PartitionCount(long rows, long computation, long high, long low) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Counts the rows of a reader without reading them. */
    static PartitionCount of(RowChunks.Reader reader) {
      long rows = reader.skip(Slice.ALL);
      return new PartitionCount(rows, reader.computation(), 0, 0);
    }
  }
}
