package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.layout.ExtentMap;

/**
 * A run of rows of one partition of a captured RDD.
 *
 * @param source partition of the captured RDD
 * @param skip number of rows before the run
 * @param take number of rows of the run
 * @param planned counted number of rows of the partition, or {@link #ALL}
 */
record Slice(SourcePartition source, long skip, long take, long planned) implements Serializable {
  /** Number of rows of an uncounted partition: all that it has. */
  static final long ALL = Long.MAX_VALUE;

  static Slice whole(SourcePartition source) {
    return new Slice(source, 0, ALL, ALL);
  }

  /** Returns the slices of counted partitions that each of {@code ranks} ranks loads, in order. */
  static Slice[][] balanced(List<SourcePartition> partitions, long[] counts, int ranks) {
    long rows = 0;
    for (long count : counts) {
      rows = Math.addExact(rows, count);
    }
    Slice[][] shards = new Slice[ranks][];
    int at = 0;
    long first = 0;
    for (int rank = 0; rank < ranks; rank++) {
      long position = ExtentMap.balancedStart(rows, rank, ranks);
      long end = ExtentMap.balancedStart(rows, rank + 1, ranks);
      List<Slice> slices = new ArrayList<>();
      while (position < end) {
        long last = first + counts[at];
        if (position >= last) {
          first = last;
          at++;
          continue;
        }
        long take = Math.min(end, last) - position;
        slices.add(new Slice(partitions.get(at), position - first, take, counts[at]));
        position += take;
      }
      shards[rank] = slices.toArray(new Slice[0]);
    }
    return shards;
  }
}
