// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.SampleFormat;

/** Readers of partitions, on executors; all are columnar. */
record SampleReaderFactory(SampleFormat format, FormatOptions options, DataSet.Selection selection)
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
