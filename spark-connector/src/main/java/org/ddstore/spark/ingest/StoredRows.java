package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.storage.StorageLevel;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Rows computed once and kept on the executors' disks, in partition order. The blocks are the only
 * copy: if an executor that holds some is lost, reading fails, as computing them again could give
 * others.
 */
final class StoredRows {
  private StoredRows() {}

  /** Runs the RDD and stores its rows, which must be unsafe rows of {@code fields} fields. */
  static OrderedRows store(RDD<InternalRow> rows, int fields) {
    FlatMapFunction<java.util.Iterator<InternalRow>, byte[]> pack =
        partition ->
            CollectionConverters.asJava(
                new RowChunks.Packer(CollectionConverters.asScala(partition), fields));
    RDD<byte[]> chunks =
        new JavaRDD<>(rows, ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
            .mapPartitions(pack)
            .rdd();
    chunks.persist(StorageLevel.DISK_ONLY());
    chunks.localCheckpoint();
    try {
      long[] counts = count(chunks);
      List<SourcePartition> partitions = new ArrayList<>();
      for (Partition partition : chunks.partitions()) {
        partitions.add(new SourcePartition(partition, "stored partition " + partition.index()));
      }
      return new OrderedRows(chunks, RowFormat.CHUNKS, fields, partitions, counts, true);
    } catch (Throwable e) { // Spark throws InterruptedException undeclared
      chunks.unpersist(false);
      throw e;
    }
  }

  /** Counts the stored rows, which stores them. */
  private static long[] count(RDD<byte[]> chunks) {
    FlatMapFunction<java.util.Iterator<byte[]>, Long> count =
        partition -> {
          long rows = 0;
          while (partition.hasNext()) {
            rows += RowChunks.rows(partition.next());
          }
          return List.of(rows).iterator();
        };
    return new JavaRDD<>(chunks, ClassTag$.MODULE$.<byte[]>apply(byte[].class))
        .mapPartitions(count).collect().stream().mapToLong(Long::longValue).toArray();
  }
}
