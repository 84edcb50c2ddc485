package org.ddstore.spark.ingest;

import java.util.Arrays;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.ddstore.spark.types.SourceChangedException;
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
  private final transient Slice[][] slices;

  /**
   * @param source captured RDD to read
   * @param slices slices of each partition
   */
  SliceRdd(SparkContext context, RDD<?> source, Slice[][] slices, Class<T> type) {
    super(context, SparkInternals.noDependencies(), ClassTag$.MODULE$.apply(type));
    this.source = source;
    this.slices = slices;
  }

  private static final class SlicePartition implements Partition {
    private static final long serialVersionUID = 1L;

    private final int index;
    private final Slice[] slices;

    SlicePartition(int index, Slice... slices) {
      this.index = index;
      this.slices = slices;
    }

    @Override
    public int index() {
      return index;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof SlicePartition that && index == that.index;
    }

    @Override
    public int hashCode() {
      return index;
    }
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] partitions = new Partition[slices.length];
    Arrays.setAll(partitions, i -> new SlicePartition(i, slices[i]));
    return partitions;
  }

  /** Returns the preferred locations of the longest slice. */
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

  /** Returns the slices of a partition of this RDD. */
  final Slice[] slices(Partition partition) {
    return ((SlicePartition) partition).slices;
  }

  /** Returns the elements of the captured RDD in the slice's partition. */
  final scala.collection.Iterator<?> read(Slice slice, TaskContext context) {
    try {
      return source.iterator(slice.source().partition(), context);
    } catch (Exception e) {
      if (slice.source().isStored() && e instanceof SparkException) {
        throw new SourceChangedException(
            "%s cannot be read because the executor that stored it is lost: plan the load again"
                .formatted(slice.source().place()),
            e);
      }
      throw e;
    }
  }
}
