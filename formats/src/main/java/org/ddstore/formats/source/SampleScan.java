// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.SampleFormat;
import org.ddstore.spark.types.OrderedScan;

/**
 * A scan of files. Its partitions depend on the files and the selected size alone: they are in row
 * order, hold runs of rows of about that size, and several files if these are small.
 */
final class SampleScan implements OrderedScan, Batch {
  /** Above this number, which the driver holds in memory, a size in a header is likely an error. */
  private static final int MAX_PARTITIONS = 1_000_000;

  private final DataSet data;
  private final StructType schema;

  SampleScan(DataSet data, StructType schema) {
    this.data = data;
    this.schema = schema;
  }

  @Override
  public StructType readSchema() {
    return schema;
  }

  @Override
  public String description() {
    return "%s (%,d files)".formatted(data.format().name(), data.files().size());
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    List<InputPartition> partitions = new ArrayList<>();
    List<SamplePartition.Run> runs = new ArrayList<>();
    long bytes = 0;
    for (FileFacts facts : data.files()) {
      long rowBytes = rowBytes(facts);
      long wanted = Math.max(1, data.partitionBytes() / rowBytes);
      long step = Math.max(1, wanted / facts.splitRows()) * facts.splitRows();
      for (long from = 0; from < facts.rows(); from += step) {
        long count = Math.min(step, facts.rows() - from);
        if (bytes > 0 && bytes + count * rowBytes > data.partitionBytes()) {
          partitions.add(new SamplePartition(runs));
          requireFewPartitions(partitions.size(), facts);
          runs = new ArrayList<>();
          bytes = 0;
        }
        runs.add(new SamplePartition.Run(facts, from, count));
        bytes += count * rowBytes;
      }
    }
    if (!runs.isEmpty()) {
      partitions.add(new SamplePartition(runs));
    }
    return partitions.toArray(InputPartition[]::new);
  }

  private static void requireFewPartitions(int partitions, FileFacts facts) {
    if (partitions == MAX_PARTITIONS) {
      throw new FormatException(
          facts.file().path(),
          "has %,d rows, and the files make more than %,d partitions: read fewer files, or set the option \"%s\" to at most 1 GiB"
              .formatted(facts.rows(), MAX_PARTITIONS, FormatOptionKeys.PARTITION_BYTES));
    }
  }

  /**
   * Returns the estimated size of a row in bytes: that of all columns, not the selected ones, so a
   * scan that counts has the same partitions. The size of ragged values is that of the file.
   */
  private long rowBytes(FileFacts facts) {
    long inFile = facts.file().length() / Math.max(1, facts.rows());
    return Math.max(DataSet.Selection.all(data.selection().layout()).rowBytes(), inFile);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new ReaderFactory(data.format(), data.options(), data.selection());
  }

  /** Readers of partitions, on executors; all are columnar. */
  private record ReaderFactory(
      SampleFormat format, FormatOptions options, DataSet.Selection selection)
      implements PartitionReaderFactory {
    @Override
    public boolean supportColumnarReads(InputPartition partition) {
      return true;
    }

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      throw new UnsupportedOperationException("the source gives columnar batches");
    }

    @Override
    public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
      return new BlockReader(format, options, selection, ((SamplePartition) partition).runs());
    }
  }
}
