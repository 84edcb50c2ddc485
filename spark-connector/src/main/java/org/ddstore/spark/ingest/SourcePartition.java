package org.ddstore.spark.ingest;

import java.io.Serializable;
import org.apache.spark.Partition;

/**
 * A partition of an RDD that stands at a known place of the source order.
 *
 * @param place as in {@code file:/data/a.parquet from byte 134217728}
 * @param computation the number that {@link RowChunks} drew when the partition was stored, which
 *     all its readers must find; {@link #REPEATABLE} for a partition that gives the same rows
 *     whenever it is computed
 */
record SourcePartition(Partition partition, String place, long computation)
    implements Serializable {
  static final long REPEATABLE = 0;

  SourcePartition(Partition partition, String place) {
    this(partition, place, REPEATABLE);
  }

  boolean isStored() {
    return computation != REPEATABLE;
  }
}
