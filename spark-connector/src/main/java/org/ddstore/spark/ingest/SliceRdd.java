// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.util.TaskCompletionListener;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import org.ddstore.spark.task.TaskPartition;
import org.ddstore.spark.types.SourceChangedException;
import scala.collection.AbstractIterator;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;

/**
 * An RDD whose partitions read slices of another RDD's partitions in sequence. It declares no
 * dependency, so that a barrier stage accepts any number of partitions and nothing is shuffled.
 *
 * @param <T> type of the elements
 */
abstract class SliceRdd<T> extends RDD<T> {
  private static final long serialVersionUID = 1L;

  private final RDD<?> source;
  private final RowReader.Format format;
  private final int fields;
  private final transient Slice[][] slices;

  /**
   * @param source captured RDD to read
   */
  private SliceRdd(
      RDD<?> source, RowReader.Format format, int fields, Slice[][] slices, Class<T> type) {
    super(source.sparkContext(), SparkInternals.noDependencies(), ClassTag$.MODULE$.apply(type));
    this.source = source;
    this.format = format;
    this.fields = fields;
    this.slices = slices;
  }

  /**
   * A run of rows of one partition of a captured RDD.
   *
   * @param skip number of rows before the run
   * @param take number of rows of the run
   * @param planned counted number of rows of the partition, or {@link #ALL}
   * @param scanBytes estimated heap of a scan of the partition
   */
  record Slice(SourcePartition source, long skip, long take, long planned, long scanBytes)
      implements Serializable {
    /** Number of rows of an uncounted partition: all that it has. */
    static final long ALL = Long.MAX_VALUE;

    /** Returns the rows of an uncounted partition, of which a scan holds some bytes at once. */
    static Slice whole(SourcePartition source, long heldBytes) {
      return new Slice(
          source, 0, ALL, ALL, ScanMemory.estimate(heldBytes, ALL, ScanMemory.UNKNOWN_ROW_BYTES));
    }

    /**
     * @param rowBytes mean size of a row
     */
    static Slice of(SourcePartition source, long skip, long take, long planned, long rowBytes) {
      return new Slice(
          source, skip, take, planned, ScanMemory.estimate(source.heldBytes(), planned, rowBytes));
    }
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] partitions = new Partition[slices.length];
    Arrays.setAll(partitions, i -> TaskPartition.of(i, slices[i]));
    return partitions;
  }

  @Override
  public Seq<String> getPreferredLocations(Partition partition) {
    Slice longest = null;
    for (Slice slice : slices(partition)) {
      if (longest == null || slice.take() > longest.take()) {
        longest = slice;
      }
    }
    return longest == null
        ? SparkInternals.emptySeq()
        : source.preferredLocations(longest.source().partition());
  }

  private static Slice[] slices(Partition partition) {
    return TaskPartition.content(Slice[].class, partition);
  }

  /** Opens a scan of the slice's partition, from its first row. */
  final SliceScan open(Slice slice, TaskContext task) {
    return SliceScan.open(source, format, fields, slice, task);
  }

  /** An RDD of the rows of counted slices. A row is valid until the next one is read. */
  static final class Rows extends SliceRdd<InternalRow> {
    private static final long serialVersionUID = 1L;

    Rows(RDD<?> source, RowReader.Format format, int fields, Slice[][] slices) {
      super(source, format, fields, slices, InternalRow.class);
    }

    @Override
    public scala.collection.Iterator<InternalRow> compute(
        Partition partition, TaskContext context) {
      return new RowIterator(slices(partition), context);
    }

    private final class RowIterator extends AbstractIterator<InternalRow> implements RowBlocks {
      private final Slice[] slices;
      private final TaskContext context;
      private int next;
      private Slice slice;
      private SliceScan scan;
      private long left;

      RowIterator(Slice[] slices, TaskContext context) {
        this.slices = slices;
        this.context = context;
        context.addTaskCompletionListener(
            (TaskCompletionListener) task -> closeScan()); // if it ends before its last row
      }

      @Override
      public boolean hasNext() {
        while (left == 0) {
          finish();
          if (next == slices.length) {
            return false;
          }
          begin(slices[next++]);
        }
        return true;
      }

      private void begin(Slice opened) {
        slice = opened;
        scan = open(opened, context);
        long skipped = scan.reader().skip(opened.skip());
        if (skipped < opened.skip()) {
          throw changed(skipped);
        }
        left = opened.take();
      }

      /** Ends a slice: one that ends with its partition must have no more rows than counted. */
      private void finish() {
        if (slice != null
            && slice.skip() + slice.take() == slice.planned()
            && scan.reader().hasNext()) {
          throw new SourceChangedException(
              "number of rows of %s changed: %,d when the load was planned, now more: plan the load again"
                  .formatted(slice.source().place(), slice.planned()));
        }
        slice = null;
        closeScan();
      }

      private void closeScan() {
        if (scan != null) {
          scan.close();
          scan = null;
        }
      }

      private SourceChangedException changed(long found) {
        return new SourceChangedException(
            "number of rows of %s changed: %,d when the load was planned, now %,d: plan the load again"
                .formatted(slice.source().place(), slice.planned(), found));
      }

      @Override
      public InternalRow next() {
        requireNext();
        left--;
        return scan.reader().next();
      }

      @Override
      public Block nextBlock() {
        requireNext();
        Block block = scan.reader().nextBlock(left);
        if (block != null) {
          left -= block.rows();
        }
        return block;
      }

      private void requireNext() {
        if (!hasNext()) {
          throw new java.util.NoSuchElementException("no more rows");
        }
        if (!scan.reader().hasNext()) {
          throw changed(slice.skip() + slice.take() - left);
        }
      }
    }
  }

  /** An RDD of the number of rows of each slice, one array per partition. */
  static final class Counts extends SliceRdd<long[]> {
    private static final long serialVersionUID = 1L;

    Counts(RDD<?> source, RowReader.Format format, int fields, Slice[][] slices) {
      super(source, format, fields, slices, long[].class);
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
          return Arrays.stream(slices).mapToLong(slice -> rowsOf(slice, context)).toArray();
        }
      };
    }

    private long rowsOf(Slice slice, TaskContext context) {
      try (SliceScan scan = open(slice, context)) {
        return scan.reader().skip(Slice.ALL);
      }
    }
  }
}
