package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.List;

/**
 * What an executor holds of a resident store, as it says itself.
 *
 * @param executorId Spark's name of it
 * @param host its address, as Spark knows it
 * @param ranks whose rows it holds
 * @param shards in how many pieces: each append adds some
 * @param rows how many
 * @param bytes of memory
 * @param servedRequests how many requests of other processes for rows it has served
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

  public ExecutorHolding {
    ranks = List.copyOf(ranks);
  }
}
