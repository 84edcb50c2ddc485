// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** A sampler with the order of another one. All spaces of this package are arithmetic. */
interface DelegatingSampler extends Sampler {
  Sampler inner();

  @Override
  default boolean neverWaits() {
    return inner().neverWaits();
  }

  @Override
  default long positions(long samples) {
    return inner().positions(samples);
  }

  @Override
  default SampleOrder order(Epoch epoch) {
    return inner().order(epoch);
  }

  @Override
  default void checkBatch(long samples) {
    inner().checkBatch(samples);
  }
}
