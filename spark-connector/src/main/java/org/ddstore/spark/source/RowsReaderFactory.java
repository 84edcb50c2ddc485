package org.ddstore.spark.source;

import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.spark.StoreHandle;
import org.ddstore.types.DDStoreException;

/**
 * Opens the reader of a task, on its executor. Spark keeps the one of a query and sends it with the
 * tasks of each job, as long as the DataFrame lives; what is sent knows where the rows are then.
 */
final class RowsReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final transient Supplier<StoreHandle> now;
  private final StoreHandle handle;
  private final ReadSchema columns;
  private final double bytesPerRow;

  private RowsReaderFactory(
      Supplier<StoreHandle> now, StoreHandle handle, ReadSchema columns, double bytesPerRow) {
    this.now = now;
    this.handle = handle;
    this.columns = columns;
    this.bytesPerRow = bytesPerRow;
  }

  /**
   * On the driver.
   *
   * @param now where the rows are, asked whenever tasks are sent; may refuse
   */
  static RowsReaderFactory of(Supplier<StoreHandle> now, ReadSchema columns, double bytesPerRow) {
    return new RowsReaderFactory(now, null, columns, bytesPerRow);
  }

  private Object writeReplace() {
    return now == null ? this : new RowsReaderFactory(null, now.get(), columns, bytesPerRow);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return !columns.hasUserDefinedType();
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    try {
      return new BatchReader(
          handle, RowBatches.open(handle, columns, rows(partition), bytesPerRow));
    } catch (DDStoreException e) {
      throw LostRows.met(handle.name(), e);
    }
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    return new RowReader(createColumnarReader(partition));
  }

  private static RowRanges rows(InputPartition partition) {
    return ((RowsPartition) partition).rows();
  }
}
