package org.ddstore.spark.source;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** A reader of batches row by row, for columns that Spark's generated code cannot read. */
final class RowReader implements PartitionReader<InternalRow> {
  private final PartitionReader<ColumnarBatch> batches;
  private Iterator<InternalRow> rows = Collections.emptyIterator();
  private InternalRow row;

  /**
   * @param batches reader of the batches, closed with this reader
   */
  RowReader(PartitionReader<ColumnarBatch> batches) {
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
