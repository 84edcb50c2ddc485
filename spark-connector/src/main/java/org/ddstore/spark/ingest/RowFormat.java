package org.ddstore.spark.ingest;

import org.apache.spark.sql.vectorized.ColumnarBatch;

/** The format of rows in the partitions of an RDD. */
enum RowFormat {
  /** One {@code InternalRow} per element. */
  ROWS {
    @Override
    RowReader open(scala.collection.Iterator<?> elements, int fields, SourcePartition source) {
      return new RowReader.OfRows(elements);
    }
  },
  /** One {@link ColumnarBatch} per element. */
  BATCHES {
    @Override
    RowReader open(scala.collection.Iterator<?> elements, int fields, SourcePartition source) {
      return new RowReader.OfBatches(elements);
    }
  },
  /** One {@code byte[]} of {@link RowChunks} per element. */
  CHUNKS {
    @Override
    RowReader open(scala.collection.Iterator<?> elements, int fields, SourcePartition source) {
      return new RowChunks.Reader(elements, fields, source);
    }
  };

  /** Returns a reader of the rows of one partition. */
  abstract RowReader open(
      scala.collection.Iterator<?> elements, int fields, SourcePartition source);
}
