package org.ddstore.spark.types;

import java.io.Serializable;

/**
 * A run of rows of a resident store that one executor holds.
 *
 * @param rank whose rows they are
 * @param append 0 for what the load brought, then one more for each append
 * @param firstRow the global index of the first of them; the same in every replica group
 * @param rows how many
 * @param bytes of memory they take, with the offsets of ragged records
 * @param digest of the rows, bound to their indices: 32 hexadecimal digits
 * @param executorId Spark's name of the executor that holds them, or held them
 * @param host its address, as Spark knows it
 * @param isLost whether that executor is gone
 */
public record ResidentShard(
    int rank,
    int append,
    long firstRow,
    long rows,
    long bytes,
    String digest,
    String executorId,
    String host,
    boolean isLost)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** What Spark's scheduler calls the executor, to be preferred by a task. */
  public String preferredLocation() {
    return "executor_" + host + "_" + executorId;
  }
}
