// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;

/**
 * A range of consecutive rows of a resident store in one executor.
 *
 * @param rank rank that owns the rows
 * @param append 0 for rows of the load, n for rows of the n-th append
 * @param firstRow global index of the first row; equal in every replica group
 * @param rows number of rows
 * @param bytes memory of the rows, in bytes, including the offsets of ragged records
 * @param digest digest of the rows and their indices: 32 hexadecimal digits
 * @param executorId Spark's id of the executor that holds, or held, the rows
 * @param host host name or address that Spark has registered for the executor
 * @param isLost true if that executor has ended
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

  /** {@return the executor's name in Spark's scheduler, for use as a preferred location} */
  public String preferredLocation() {
    return "executor_" + host + "_" + executorId;
  }
}
