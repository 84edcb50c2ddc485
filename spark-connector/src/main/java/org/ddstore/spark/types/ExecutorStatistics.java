// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.List;

/**
 * What an executor holds and reads of a resident store.
 *
 * @param executorId Spark's id of the executor
 * @param host host name or address that Spark has registered for the executor
 * @param ranks ranks whose rows it holds, ascending
 * @param shards number of shards; each append adds some
 * @param rows number of rows
 * @param bytes memory of the rows, in bytes
 * @param leases number of shards that it has loaded and the driver has not confirmed yet
 * @param servedRequests number of requests for rows that it has served to other processes
 * @param answeredMs time of this report in milliseconds since 1970; 0 if there is none yet
 * @param readers reads of its own ranks, scans and attached readers
 * @param outside reads that it has served to readers outside of the application
 */
public record ExecutorStatistics(
    String executorId,
    String host,
    List<Integer> ranks,
    int shards,
    long rows,
    long bytes,
    int leases,
    long servedRequests,
    long answeredMs,
    List<ReaderStatistics> readers,
    List<OutsideStatistics> outside)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * Copies the lists.
   *
   * @param executorId Spark's id of the executor
   * @param host host name or address that Spark has registered for the executor
   * @param ranks ranks whose rows it holds, ascending
   * @param shards number of shards; each append adds some
   * @param rows number of rows
   * @param bytes memory of the rows, in bytes
   * @param leases number of shards that it has loaded and the driver has not confirmed yet
   * @param servedRequests number of requests for rows that it has served to other processes
   * @param answeredMs time of this report in milliseconds since 1970; 0 if there is none yet
   * @param readers reads of its own ranks, scans and attached readers
   * @param outside reads that it has served to readers outside of the application
   */
  public ExecutorStatistics {
    ranks = List.copyOf(ranks);
    readers = List.copyOf(readers);
    outside = List.copyOf(outside);
  }
}
