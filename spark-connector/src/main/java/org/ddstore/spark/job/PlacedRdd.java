// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.task.TaskPartition;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * An RDD with the partitions of another RDD, or empty partitions, each with a preferred location.
 * It declares no dependency, so that a barrier stage accepts it.
 */
public final class PlacedRdd extends RDD<InternalRow> {
  private static final long serialVersionUID = 1L;

  private final RDD<InternalRow> rows;
  private final transient List<String> places;

  private PlacedRdd(SparkContext context, RDD<InternalRow> rows, List<String> places) {
    super(
        context,
        PlacedRdd.<Dependency<?>>seq(List.of()),
        ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class));
    this.rows = rows;
    this.places = List.copyOf(places);
  }

  /**
   * Returns rows with preferred locations.
   *
   * @param places names in Spark's scheduler, one per partition; an empty name for no preference
   */
  public static RDD<InternalRow> of(RDD<InternalRow> rows, List<String> places) {
    return new PlacedRdd(rows.sparkContext(), rows, places);
  }

  public static RDD<InternalRow> empty(SparkContext context, List<String> places) {
    return new PlacedRdd(context, null, places);
  }

  private record Place(String preferred, Partition partition) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] partitions = new Partition[places.size()];
    Arrays.setAll(
        partitions,
        i ->
            TaskPartition.of(
                i, new Place(places.get(i), rows == null ? null : rows.partitions()[i])));
    return partitions;
  }

  @Override
  public Seq<String> getPreferredLocations(Partition partition) {
    String preferred = TaskPartition.content(Place.class, partition).preferred();
    return seq(preferred.isEmpty() ? List.of() : List.of(preferred));
  }

  @Override
  public scala.collection.Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    return rows == null
        ? PlacedRdd.<InternalRow>seq(List.of()).iterator()
        : rows.iterator(TaskPartition.content(Place.class, partition).partition(), context);
  }

  private static <T> Seq<T> seq(List<T> items) {
    return CollectionConverters.asScala(items).toSeq();
  }
}
