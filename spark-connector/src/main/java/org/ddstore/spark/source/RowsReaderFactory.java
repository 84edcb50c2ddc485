// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.spark.StoreHandle;
import org.ddstore.types.DDStoreException;

/**
 * A factory that opens the reader of a task on its executor. Spark keeps the factory of a query
 * while the DataFrame exists and sends it with the tasks of each job; the serialized form contains
 * the current locations of the rows.
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
   * Creates a factory on the driver.
   *
   * @param now supplier of the current handle, called whenever tasks are sent; can throw
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
    return new BatchRowReader(createColumnarReader(partition));
  }

  private static RowRanges rows(InputPartition partition) {
    return ((RowsPartition) partition).rows();
  }

  private static final class BatchReader implements PartitionReader<ColumnarBatch> {
    private final StoreHandle store;
    private final RowBatches batches;
    private ColumnarBatch batch;

    /**
     * @param store handle of the store, named in errors
     * @param batches batches of the task, closed with this reader
     */
    BatchReader(StoreHandle store, RowBatches batches) {
      this.store = store;
      this.batches = batches;
    }

    @Override
    public boolean next() {
      long start = System.nanoTime();
      try {
        batch = batches.next();
      } catch (DDStoreException e) {
        throw LostRows.met(store.name(), e);
      } finally {
        batches.counts().addNanos(System.nanoTime() - start);
      }
      return batch != null;
    }

    @Override
    public ColumnarBatch get() {
      return batch;
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
      return ScanMetric.values(batches.counts());
    }

    @Override
    public void close() {
      batches.close();
    }
  }

  /** A reader of batches row by row, for columns that Spark's generated code cannot read. */
  private static final class BatchRowReader implements PartitionReader<InternalRow> {
    private final PartitionReader<ColumnarBatch> batches;
    private Iterator<InternalRow> rows = Collections.emptyIterator();
    private InternalRow row;

    /**
     * @param batches reader of the batches, closed with this reader
     */
    BatchRowReader(PartitionReader<ColumnarBatch> batches) {
      this.batches = batches;
    }

    @Override
    public boolean next() throws IOException {
      while (!rows.hasNext()) {
        if (!batches.next()) {
          return false;
        }
        rows = batches.get().rowIterator();
      }
      row = rows.next();
      return true;
    }

    @Override
    public InternalRow get() {
      return row;
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
      return batches.currentMetricsValues();
    }

    @Override
    public void close() throws IOException {
      batches.close();
    }
  }
}
