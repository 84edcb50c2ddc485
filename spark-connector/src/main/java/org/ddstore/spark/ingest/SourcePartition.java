package org.ddstore.spark.ingest;

import java.io.Serializable;
import org.apache.spark.Partition;

/**
 * A partition of an RDD at a known position in the source order.
 *
 * @param place description such as {@code file:/data/a.parquet from byte 134217728}
 * @param computation random number of {@link RowChunks} from the time when the partition was
 *     stored, verified by all readers; {@link #REPEATABLE} for a partition that always has the same
 *     rows
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
