// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochBatches;

/** The batches of one epoch, starting at a given batch. */
final class EpochSource implements BatchSource {
  private final EpochBatches batches;
  private final long epoch;
  private final boolean needsPositions;
  private final boolean neverWaits;
  private final int maxSize;
  private final String code;
  private long next;

  /**
   * @param batches batches of the sampler in the epoch
   */
  EpochSource(BatchSampler sampler, EpochBatches batches, long epoch, long from) {
    this.batches = batches;
    this.epoch = epoch;
    this.next = from;
    this.needsPositions = sampler.space().crop().isPresent();
    this.neverWaits = sampler.neverWaits();
    this.maxSize = batches.maxSize();
    this.code = "the sampler " + sampler.getClass().getName();
  }

  @Override
  public boolean next(BatchPlan plan) {
    if (next >= batches.batches()) {
      return false;
    }
    int size = batches.size(next);
    batches.fill(next, plan.begin(epoch, next, size));
    plan.pad(batches.padding(next));
    plan.share(batches.share(next));
    for (int i = 0; needsPositions && i < size; i++) {
      plan.position(i, batches.position(next, i));
    }
    next++;
    return true;
  }

  @Override
  public boolean neverWaits() {
    return neverWaits;
  }

  @Override
  public boolean isPushed() {
    return false;
  }

  @Override
  public String code() {
    return code;
  }

  @Override
  public int maxSize() {
    return maxSize;
  }
}
