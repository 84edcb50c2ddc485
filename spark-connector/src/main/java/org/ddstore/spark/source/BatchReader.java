package org.ddstore.spark.source;

import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.spark.StoreHandle;
import org.ddstore.types.DDStoreException;

/** A reader of the batches of one task. */
final class BatchReader implements PartitionReader<ColumnarBatch> {
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
    try {
      batch = batches.next();
    } catch (DDStoreException e) {
      throw LostRows.met(store.name(), e);
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
