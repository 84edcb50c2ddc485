// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;

/**
 * The times of the loaders of one rank, summed over its loaders.
 *
 * @param batches number of batches that the training loop has received
 * @param waitNanos time in which the training loop waited for a batch, in nanoseconds
 * @param idleNanos time in which finished batches waited for the training loop, in nanoseconds
 * @param readNanos time of the threads that read batches, in nanoseconds
 * @param computeNanos time of the training loop between two batches, in nanoseconds
 */
public record LoaderTimes(
    long batches, long waitNanos, long idleNanos, long readNanos, long computeNanos)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** {@return the times of a rank without a loader} */
  public static LoaderTimes none() {
    return new LoaderTimes(0, 0, 0, 0, 0);
  }

  /**
   * {@return the sum of both times}
   *
   * @param other times to add
   */
  public LoaderTimes plus(LoaderTimes other) {
    return new LoaderTimes(
        batches + other.batches,
        waitNanos + other.waitNanos,
        idleNanos + other.idleNanos,
        readNanos + other.readNanos,
        computeNanos + other.computeNanos);
  }

  /** {@return the share of the loop's time in which it waited, in [0, 1]; 0 without batches} */
  public double stallShare() {
    long all = waitNanos + computeNanos;
    return all == 0 ? 0 : (double) waitNanos / all;
  }

  /** {@return the share of the loop's time in which it computed, in [0, 1]; 0 without batches} */
  public double utilisation() {
    long all = waitNanos + computeNanos;
    return all == 0 ? 0 : (double) computeNanos / all;
  }
}
