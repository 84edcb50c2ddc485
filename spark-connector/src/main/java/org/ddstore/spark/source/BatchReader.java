package org.ddstore.spark.source;

import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** The batches of one task. */
final class BatchReader implements PartitionReader<ColumnarBatch> {
  private final RowBatches batches;
  private ColumnarBatch batch;

  BatchReader(RowBatches batches) {
    this.batches = batches;
  }

  @Override
  public boolean next() {
    batch = batches.next();
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
