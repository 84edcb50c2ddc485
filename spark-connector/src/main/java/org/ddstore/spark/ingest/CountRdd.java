package org.ddstore.spark.ingest;

import java.util.Arrays;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.AbstractIterator;

/** An RDD of the number of rows of each slice, one array per partition. */
final class CountRdd extends SliceRdd<long[]> {
  private static final long serialVersionUID = 1L;

  private final RowFormat format;
  private final int fields;

  CountRdd(SparkContext context, RDD<?> source, RowFormat format, int fields, Slice[][] slices) {
    super(context, source, slices, long[].class);
    this.format = format;
    this.fields = fields;
  }

  @Override
  public scala.collection.Iterator<long[]> compute(Partition partition, TaskContext context) {
    Slice[] slices = slices(partition);
    return new AbstractIterator<>() {
      private boolean done;

      @Override
      public boolean hasNext() {
        return !done;
      }

      @Override
      public long[] next() {
        done = true;
        return Arrays.stream(slices)
            .mapToLong(
                slice -> format.open(read(slice, context), fields, slice.source()).skip(Slice.ALL))
            .toArray();
      }
    };
  }
}
