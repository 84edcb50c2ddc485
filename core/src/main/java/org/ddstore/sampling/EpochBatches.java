// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * The batches of one rank in one epoch, known in advance and computed on request, in any order.
 * Every rank has the same number of batches, so that no rank waits in a collective for one that has
 * ended; a batch can be empty. Used by one thread at a time.
 */
public interface EpochBatches {
  /** {@return the number of batches of this and every other rank} */
  long batches();

  /**
   * {@return the number of samples of a batch, including padding}
   *
   * @param batch number of the batch, in [0, batches)
   */
  int size(long batch);

  /**
   * {@return the number of trailing samples that only pad a batch; they have weight 0}
   *
   * @param batch number of the batch, in [0, batches)
   */
  default int padding(long batch) {
    return 0;
  }

  /**
   * {@return the number of samples of all ranks together in a batch, without padding}
   *
   * @param batch number of the batch, in [0, batches)
   */
  long globalSize(long batch);

  /**
   * Writes the samples of a batch.
   *
   * @param batch number of the batch, in [0, batches)
   * @param samples receives {@link #size} numbers from index 0 on
   */
  void fill(long batch, long[] samples);

  /**
   * {@return the position in the epoch of sample {@code i} of a batch, unique over all ranks} The
   * position of padding is {@link #positions()} or more.
   *
   * @param batch number of the batch, in [0, batches)
   * @param i position in the batch
   */
  long position(long batch, int i);

  /** {@return the largest {@link #size} of all batches} */
  int maxSize();

  /** {@return the number of positions of the epoch, on all ranks and in no batch} */
  long positions();

  /** {@return the samples that are in no batch of any rank, in any order} */
  default SampleOrder dropped() {
    return SampleOrder.of();
  }

  /**
   * {@return this rank's share of a global batch, by which to weight its gradients: in [0, 1]}
   *
   * @param batch number of the batch, in [0, batches)
   */
  default double share(long batch) {
    long all = globalSize(batch);
    return all == 0 ? 0 : (double) (size(batch) - padding(batch)) / all;
  }
}
