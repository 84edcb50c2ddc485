// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.types.Schema;

/** A loader of the shards of ranks; sent to the executors. */
public interface ShardLoader extends Serializable {
  Schema schema();

  /** Returns the approximate number of bytes that a rank will allocate; 0 if unknown. */
  long estimatedBytes(int rank);

  /** Returns the number of the shard of a rank in its copy of the store. */
  int shard(int rank);

  /** Returns the index of the first row of a rank among all loaded rows. */
  long firstRow(int rank);

  void load(int rank, Iterator<InternalRow> rows, ShardWriter writer);
}
