// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.time.Duration;
import org.ddstore.types.Internal;

/**
 * The batches of a {@link Loader} for another loader that takes them ahead of time and delivers
 * them later. The loader's receipts, states and utilisation count what was delivered. Used by the
 * consumer's thread.
 */
@Internal
public final class BatchFeed {
  private final LoaderThreads threads;
  private final Consumption consumption;

  BatchFeed(LoaderThreads threads, Consumption consumption) {
    this.threads = threads;
    this.consumption = consumption;
  }

  /**
   * Takes the next batch, which the caller closes, as {@link Loader#pop}.
   *
   * @param timeout maximum time to wait, above 0
   * @return the batch
   */
  public LoadedBatch take(Duration timeout) {
    return threads.pop(timeout);
  }

  /** Records that the consumer asks for the batch that is counted next. */
  public void asked() {
    consumption.asked();
  }

  /**
   * Counts a batch as delivered; to be called in the order in which the batches were taken.
   *
   * @param samples numbers of the samples
   * @param size number of samples of the batch, at most those of the array
   * @param padding number of samples at the end that only pad the batch
   */
  public void delivered(long[] samples, int size, int padding) {
    consumption.delivered(samples, size, padding);
  }

  /**
   * {@return the names of all tensors of a batch}
   *
   * @param batch batch of the loader
   */
  public Iterable<String> names(LoadedBatch batch) {
    return batch.names();
  }

  /**
   * {@return whether a field is ragged, so that the batch has its offsets}
   *
   * @param batch batch of the loader
   * @param name name of a field
   */
  public boolean hasOffsets(LoadedBatch batch, String name) {
    return batch.hasOffsets(name);
  }
}
