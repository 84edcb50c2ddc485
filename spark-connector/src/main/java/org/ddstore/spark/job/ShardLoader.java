package org.ddstore.spark.job;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.types.Schema;

/** How a rank fills its shard; sent to the executors. */
public interface ShardLoader extends Serializable {
  Schema schema();

  /** The bytes that a rank is about to allocate, about; 0 if not known. */
  long estimatedBytes(int rank);

  /** The index, among all that are loaded, of the first row of a rank. */
  long firstRow(int rank);

  /** Writes the rows of a rank. */
  void load(int rank, Iterator<InternalRow> rows, ShardWriter writer);
}
