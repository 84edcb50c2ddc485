package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDD;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The splits of a file scan, one per partition. Spark packs splits into partitions by size and
 * number of cores; unpacked and sorted by path and start, their order depends only on the files.
 */
final class FileSplits {
  private record Split(UTF8String path, PartitionedFile file) {}

  private FileSplits() {}

  /** Returns the splits in source order; empty if the RDD does not read files one-to-one. */
  static Optional<List<SourcePartition>> of(RDD<?> rdd) {
    RDD<?> leaf = leaf(rdd);
    boolean version2 = leaf instanceof DataSourceRDD;
    if (!version2 && !(leaf instanceof FileScanRDD)) {
      return Optional.empty();
    }
    List<Split> splits = new ArrayList<>();
    for (Partition partition : rdd.partitions()) {
      if (partition instanceof FilePartition files) {
        addTo(splits, files);
      } else if (partition instanceof DataSourceRDDPartition inputs) {
        for (InputPartition input : SparkInternals.inputPartitions(inputs)) {
          if (!(input instanceof FilePartition files)) {
            return Optional.empty();
          }
          addTo(splits, files);
        }
      } else {
        return Optional.empty();
      }
    }
    splits.sort(Comparator.comparing(Split::path).thenComparingLong(split -> split.file.start()));
    List<SourcePartition> sorted = new ArrayList<>(splits.size());
    for (int i = 0; i < splits.size(); i++) {
      PartitionedFile file = splits.get(i).file;
      FilePartition alone = new FilePartition(i, new PartitionedFile[] {file});
      sorted.add(
          new SourcePartition(
              version2 ? SparkInternals.partitionOf(i, alone) : alone,
              "%s from byte %d, length %d"
                  .formatted(splits.get(i).path, file.start(), file.length())));
    }
    return Optional.of(sorted);
  }

  private static void addTo(List<Split> splits, FilePartition partition) {
    for (PartitionedFile file : partition.files()) {
      splits.add(new Split(UTF8String.fromString(file.filePath().urlEncoded()), file));
    }
  }

  /** Returns the RDD at the end of a chain of one-to-one dependencies; null for other chains. */
  private static RDD<?> leaf(RDD<?> rdd) {
    RDD<?> at = rdd;
    while (true) {
      List<Dependency<?>> dependencies = SparkInternals.list(at.dependencies());
      if (dependencies.isEmpty()) {
        return at;
      }
      if (dependencies.size() > 1 || !(dependencies.get(0) instanceof OneToOneDependency<?>)) {
        return null;
      }
      at = dependencies.get(0).rdd();
    }
  }
}
