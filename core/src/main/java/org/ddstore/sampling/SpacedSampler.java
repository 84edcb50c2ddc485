// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/** A sampler that applies the order of another sampler to the samples of a space. */
record SpacedSampler(SampleSpace space, Sampler inner) implements DelegatingSampler {
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
  public Sampler forSamples(RowSubset samples) {
    Objects.requireNonNull(samples, "samples is null");
    return new SpacedSampler(space, inner.forSamples(samples));
  }
}
