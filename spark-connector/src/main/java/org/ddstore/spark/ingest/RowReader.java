// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;

/** A reader of the rows of one partition, in order. A row is valid until the next call. */
interface RowReader {
  boolean hasNext();

  InternalRow next();

  /**
   * Skips up to {@code rows} rows without reading them.
   *
   * @return number of skipped rows
   */
  long skip(long rows);

  /**
   * Takes up to {@code most} rows that are in one batch; the caller has seen that there is one.
   *
   * @return the rows, valid until the next call; null if there are no batches
   */
  default RowBlocks.Block nextBlock(long most) {
    return null;
  }

  final class OfRows implements RowReader {
    private final scala.collection.Iterator<?> rows;

    OfRows(scala.collection.Iterator<?> rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public InternalRow next() {
      return (InternalRow) rows.next();
    }

    @Override
    public long skip(long count) {
      long skipped = 0;
      while (skipped < count && rows.hasNext()) {
        rows.next();
        skipped++;
      }
      return skipped;
    }
  }

  final class OfBatches implements RowReader {
    private final scala.collection.Iterator<?> batches;
    private ColumnarBatch batch;
    private int row;
    private int rows;

    OfBatches(scala.collection.Iterator<?> batches) {
      this.batches = batches;
    }

    @Override
    public boolean hasNext() {
      while (row == rows) {
        if (!batches.hasNext()) {
          return false;
        }
        batch = (ColumnarBatch) batches.next();
        row = 0;
        rows = batch.numRows();
      }
      return true;
    }

    @Override
    public InternalRow next() {
      return batch.getRow(row++);
    }

    @Override
    public RowBlocks.Block nextBlock(long most) {
      int from = row;
      int count = (int) Math.min(most, rows - from);
      row += count;
      return new RowBlocks.Block(batch, from, count);
    }

    @Override
    public long skip(long count) {
      long skipped = 0;
      while (skipped < count && hasNext()) {
        int now = (int) Math.min(count - skipped, rows - row);
        row += now;
        skipped += now;
      }
      return skipped;
    }
  }

  enum Format {
    /** One {@code InternalRow} per element. */
    ROWS {
      @Override
      RowReader open(scala.collection.Iterator<?> elements, int fields, SourcePartition source) {
        return new OfRows(elements);
      }
    },
    /** One {@link ColumnarBatch} per element. */
    BATCHES {
      @Override
      RowReader open(scala.collection.Iterator<?> elements, int fields, SourcePartition source) {
        return new OfBatches(elements);
      }
    },
    /** One {@code byte[]} of {@link RowChunks} per element. */
    CHUNKS {
      @Override
      RowReader open(scala.collection.Iterator<?> elements, int fields, SourcePartition source) {
        return new RowChunks.Reader(elements, fields, source);
      }
    };

    abstract RowReader open(
        scala.collection.Iterator<?> elements, int fields, SourcePartition source);
  }
}
