package org.ddstore.spark.ingest;

import org.apache.spark.Partition;

/**
 * A partition of an RDD that stands at a known place of the source order.
 *
 * @param place as in {@code file:/data/a.parquet from byte 134217728}
 */
record SourcePartition(Partition partition, String place) {}
