// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecutionRDD;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.TextBasedFileFormat;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDD;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.TextBasedFileScan;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.unsafe.types.UTF8String;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;

/** The RDD that executes a plan, the layout of the columns in it, and its file splits in order. */
final class PhysicalRows {
  private final RDD<?> rdd;
  private final RowReader.Format format;
  private final boolean readsLines;
  private final int[] ordinals;

  private PhysicalRows(
      QueryExecution execution, RDD<?> rdd, RowReader.Format format, int... ordinals) {
    this.rdd = rdd;
    this.format = format;
    this.readsLines = readsLines(execution.optimizedPlan());
    this.ordinals = ordinals;
  }

  /** Returns whether the plan reads text files, of which a scan holds some lines only. */
  private static boolean readsLines(LogicalPlan plan) {
    return SparkInternals.list(plan.collectLeaves()).stream()
        .anyMatch(
            leaf ->
                leaf instanceof LogicalRelation relation
                    ? relation.relation() instanceof HadoopFsRelation files
                        && files.fileFormat() instanceof TextBasedFileFormat
                    : leaf instanceof DataSourceV2ScanRelation scan
                        && scan.scan() instanceof TextBasedFileScan);
  }

  /** Returns the RDD of rows or batches, see {@link #format}. */
  RDD<?> rdd() {
    return rdd;
  }

  RowReader.Format format() {
    return format;
  }

  int[] ordinals() {
    return ordinals.clone();
  }

  /** Returns the plan executed as rows, which every plan supports. */
  static PhysicalRows asRows(QueryExecution execution) {
    int columns = execution.executedPlan().output().size();
    return new PhysicalRows(
        execution, execution.toRdd(), RowReader.Format.ROWS, IntStream.range(0, columns).toArray());
  }

  /** Returns batches of the scan if only a column selection is above it, else rows. */
  static PhysicalRows fastest(QueryExecution execution, SQLConf conf) {
    SparkPlan plan = strip(execution.executedPlan());
    int[] ordinals = null;
    if (plan instanceof ProjectExec project) {
      ordinals = chosen(project);
      if (ordinals == null) {
        return asRows(execution);
      }
      plan = strip(project.child());
    }
    if (plan instanceof ColumnarToRowExec transition) {
      plan = strip(transition.child());
    }
    if (!plan.supportsColumnar()) {
      return asRows(execution);
    }
    if (ordinals == null) {
      ordinals = IntStream.range(0, plan.output().size()).toArray();
    }
    return new PhysicalRows(
        execution, withConf(plan.executeColumnar(), conf), RowReader.Format.BATCHES, ordinals);
  }

  /** Returns the batches with the settings applied on the executors. */
  @SuppressWarnings("unchecked")
  private static RDD<?> withConf(RDD<?> batches, SQLConf conf) {
    return new SQLExecutionRDD((RDD<InternalRow>) batches, conf);
  }

  private static SparkPlan strip(SparkPlan plan) {
    SparkPlan at = plan;
    while (true) {
      if (at instanceof WholeStageCodegenExec stage) {
        at = stage.child();
      } else if (at instanceof InputAdapter adapter) {
        at = adapter.child();
      } else {
        return at;
      }
    }
  }

  /** Returns the ordinals of the projected columns in the child; null if one is computed. */
  private static int[] chosen(ProjectExec project) {
    List<Attribute> inputs = SparkInternals.list(project.child().output());
    List<NamedExpression> outputs = SparkInternals.list(project.projectList());
    int[] places = new int[outputs.size()];
    for (int i = 0; i < places.length; i++) {
      Object expression = outputs.get(i) instanceof Alias alias ? alias.child() : outputs.get(i);
      if (!(expression instanceof Attribute attribute)) {
        return null;
      }
      places[i] = indexOf(inputs, attribute);
      if (places[i] < 0) {
        return null;
      }
    }
    return places;
  }

  private static int indexOf(List<Attribute> attributes, Attribute wanted) {
    for (int i = 0; i < attributes.size(); i++) {
      if (attributes.get(i).exprId().equals(wanted.exprId())) {
        return i;
      }
    }
    return -1;
  }

  private record Split(UTF8String path, PartitionedFile file) {}

  /**
   * Returns the splits of a file scan, one per partition, ordered by path and start; empty if the
   * RDD does not read files one-to-one. Spark packs splits into partitions by size and number of
   * cores; unpacked and sorted, their order depends only on the files.
   */
  Optional<List<SourcePartition>> fileSplits() {
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
                  .formatted(splits.get(i).path, file.start(), file.length()),
              SourcePartition.REPEATABLE,
              readsLines ? 0 : file.length()));
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

  @Override
  public String toString() {
    return "PhysicalRows[%s, columns at %s]".formatted(format, Arrays.toString(ordinals));
  }
}
