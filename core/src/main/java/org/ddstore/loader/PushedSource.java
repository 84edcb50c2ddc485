// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Iterator;

/** A source of batches from a user's iterator, which is pulled no further than one batch. */
final class PushedSource implements BatchSource {
  private final Iterator<Long> samples;
  private final int batch;
  private final boolean keepsPartial;
  private long count;
  private long number;

  PushedSource(Iterator<Long> samples, int batch, boolean keepsPartial) {
    this.samples = samples;
    this.batch = batch;
    this.keepsPartial = keepsPartial;
  }

  @Override
  public boolean next(BatchPlan plan) {
    long[] target = plan.begin(0, number, batch);
    int size = 0;
    while (size < batch && samples.hasNext()) {
      target[size] = samples.next();
      plan.position(size, count++);
      size++;
    }
    if (size == 0 || (size < batch && !keepsPartial)) {
      return false;
    }
    plan.begin(0, number++, size);
    return true;
  }

  @Override
  public boolean neverWaits() {
    return false;
  }

  @Override
  public boolean isPushed() {
    return true;
  }

  @Override
  public String code() {
    return "the iterator " + samples.getClass().getName();
  }

  @Override
  public int maxSize() {
    return batch;
  }
}
