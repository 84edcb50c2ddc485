// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.List;

/**
 * The part of a resident store that an executor reports to hold.
 *
 * @param executorId Spark's id of the executor
 * @param host host name or address that Spark has registered for the executor
 * @param ranks ranks whose rows it holds
 * @param shards number of shards; each append adds some
 * @param rows number of rows
 * @param bytes memory of the rows, in bytes
 * @param servedRequests number of requests for rows that it has served to other processes
 */
public record ExecutorHolding(
    String executorId,
    String host,
    List<Integer> ranks,
    int shards,
    long rows,
    long bytes,
    long servedRequests)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the value and checks it.
   *
   * @param executorId Spark's id of the executor
   * @param host host name or address that Spark has registered for the executor
   * @param ranks ranks whose rows it holds
   * @param shards number of shards; each append adds some
   * @param rows number of rows
   * @param bytes memory of the rows, in bytes
   * @param servedRequests number of requests for rows that it has served to other processes
   */
  public ExecutorHolding {
    ranks = List.copyOf(ranks);
  }
}
