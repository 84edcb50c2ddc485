// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreScan;
import org.ddstore.spark.types.ResidentShard;

/**
 * A scan of some columns of some rows of a store: the rows at the time of planning, read from their
 * locations at the start of the tasks.
 */
final class DDStoreScan implements StoreScan, Batch, SupportsReportStatistics {
  private final ResidentStore store;
  private final StoreHandle handle;
  private final ReadSchema columns;
  private final RowRanges rows;
  private final long skippedRows;

  /**
   * @param skippedRows number of rows that conditions on the index leave out
   */
  DDStoreScan(
      ResidentStore store,
      StoreHandle handle,
      ReadSchema columns,
      RowRanges rows,
      long skippedRows) {
    this.skippedRows = skippedRows;
    this.store = store;
    this.handle = handle;
    this.columns = columns;
    this.rows = rows;
  }

  @Override
  public boolean isStale(ResidentStore now) {
    return store.name().equals(now.name()) && (store != now || handle.rows() != now.rows());
  }

  @Override
  public StructType readSchema() {
    return columns.required();
  }

  @Override
  public String description() {
    return "ddstore %s, rows %s".formatted(handle.name(), rows);
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  private double bytesPerRow() {
    return (double) store.bytes() / Math.max(1, store.rows());
  }

  @Override
  public InputPartition[] planInputPartitions() {
    int cores = SparkSession.active().sparkContext().defaultParallelism();
    List<ResidentShard> shards = store.shards();
    LostRows.refuse(store.name(), rows, shards);
    return new ScanSplits(bytesPerRow(), cores).of(rows, shards);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return RowsReaderFactory.of(this::currentHandle, columns, bytesPerRow());
  }

  /** Returns the current handle; rows keep their indices, so later appends have no effect. */
  private StoreHandle currentHandle() {
    if (store.isDropped()) {
      throw new IllegalStateException(
          "store \"%s\" was dropped or overwritten after the query was planned: read it again"
              .formatted(store.name()));
    }
    LostRows.refuse(store.name(), rows, store.shards());
    return store.handle();
  }

  /** Returns unsupported for user-defined types, because generated code cannot read structs. */
  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return columns.hasUserDefinedType()
        ? ColumnarSupportMode.UNSUPPORTED
        : ColumnarSupportMode.SUPPORTED;
  }

  /** Returns an estimate of at least one byte, because Spark multiplies size estimates. */
  @Override
  public Statistics estimateStatistics() {
    long bytes = Math.max(1, Math.round(rows.rows() * bytesPerRow() * columns.share()));
    return new Statistics() {
      @Override
      public OptionalLong sizeInBytes() {
        return OptionalLong.of(bytes);
      }

      @Override
      public OptionalLong numRows() {
        return OptionalLong.of(rows.rows());
      }
    };
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return ScanMetric.all();
  }

  @Override
  public CustomTaskMetric[] reportDriverMetrics() {
    return ScanMetric.ofDriver(skippedRows);
  }

  /** Compares scans; Spark reuses the result of an equal scan. */
  @Override
  public boolean equals(Object other) {
    return other instanceof DDStoreScan that
        && store == that.store
        && handle.rows() == that.handle.rows()
        && columns.equals(that.columns)
        && rows.equals(that.rows);
  }

  @Override
  public int hashCode() {
    return Objects.hash(handle.name(), columns.required(), rows);
  }
}
