// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/** A sampler that applies the order of another sampler to the samples of a space. */
record SpacedSampler(SampleSpace space, Sampler inner) implements Sampler {
  SpacedSampler {
    if (inner.space() != SampleSpace.ROWS) {
      throw new IllegalArgumentException(
          "sampler of %s over %s: samples of samples are not supported; give an order of rows, and call within(..) on the result"
              .formatted(space.describe(), inner.describe()));
    }
  }

  @Override
  public String describe() {
    return space.describe() + " " + inner.describe();
  }

  @Override
  public boolean neverWaits() {
    return inner.neverWaits(); // all spaces of this package are arithmetic
  }

  @Override
  public long positions(long samples) {
    return inner.positions(samples);
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    return inner.order(epoch);
  }

  @Override
  public Sampler forSamples(RowSubset samples) {
    Objects.requireNonNull(samples, "samples is null");
    return new SpacedSampler(space, inner.forSamples(samples));
  }

  @Override
  public void checkBatch(long samples) {
    inner.checkBatch(samples);
  }
}
