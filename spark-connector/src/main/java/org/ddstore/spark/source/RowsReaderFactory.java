package org.ddstore.spark.source;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.spark.StoreHandle;

/** Opens the reader of a task, on its executor. */
final class RowsReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final StoreHandle handle;
  private final ReadSchema columns;
  private final double bytesPerRow;

  RowsReaderFactory(StoreHandle handle, ReadSchema columns, double bytesPerRow) {
    this.handle = handle;
    this.columns = columns;
    this.bytesPerRow = bytesPerRow;
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return !columns.hasUserDefinedType();
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    return new BatchReader(RowBatches.open(handle, columns, rows(partition), bytesPerRow));
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    return new RowReader(createColumnarReader(partition));
  }

  private static RowRanges rows(InputPartition partition) {
    return ((RowsPartition) partition).rows();
  }
}
