package org.ddstore.spark.ingest;

import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.types.SourceChangedException;
import scala.collection.AbstractIterator;

/** An RDD of the rows of counted slices. A row is valid until the next one is read. */
final class ShardRdd extends SliceRdd<InternalRow> {
  private static final long serialVersionUID = 1L;

  private final RowFormat format;
  private final int fields;

  /**
   * @param format format of the elements of {@code source}
   * @param fields number of fields of its rows
   */
  ShardRdd(SparkContext context, RDD<?> source, RowFormat format, int fields, Slice[][] slices) {
    super(context, source, slices, InternalRow.class);
    this.format = format;
    this.fields = fields;
  }

  @Override
  public scala.collection.Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    return new Rows(slices(partition), context);
  }

  private final class Rows extends AbstractIterator<InternalRow> {
    private final Slice[] slices;
    private final TaskContext context;
    private int next;
    private Slice slice;
    private RowReader reader;
    private long left;

    Rows(Slice[] slices, TaskContext context) {
      this.slices = slices;
      this.context = context;
    }

    @Override
    public boolean hasNext() {
      while (left == 0) {
        finish();
        if (next == slices.length) {
          return false;
        }
        open(slices[next++]);
      }
      return true;
    }

    private void open(Slice opened) {
      slice = opened;
      reader = format.open(read(opened, context), fields, opened.source());
      long skipped = reader.skip(opened.skip());
      if (skipped < opened.skip()) {
        throw changed(skipped);
      }
      left = opened.take();
    }

    /** Checks that a slice that ends with its partition has no more rows than counted. */
    private void finish() {
      if (slice != null && slice.skip() + slice.take() == slice.planned() && reader.hasNext()) {
        throw new SourceChangedException(
            "%s had %,d rows when the load was planned, now more: plan the load again"
                .formatted(slice.source().place(), slice.planned()));
      }
      slice = null;
    }

    private SourceChangedException changed(long found) {
      return new SourceChangedException(
          "%s had %,d rows when the load was planned, now %,d: plan the load again"
              .formatted(slice.source().place(), slice.planned(), found));
    }

    @Override
    public InternalRow next() {
      if (!hasNext()) {
        throw new java.util.NoSuchElementException("no more rows");
      }
      if (!reader.hasNext()) {
        throw changed(slice.skip() + slice.take() - left);
      }
      left--;
      return reader.next();
    }
  }
}
