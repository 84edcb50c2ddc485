// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Optional;

/**
 * A space of the samples of another space all of whose rows belong to a subset, numbered anew from
 * 0 in ascending order.
 *
 * @param rows rows of the store
 * @param samples numbers of the samples in the other space
 */
record SubsetSpace(SampleSpace whole, RowSubset rows, RowSubset samples)
    implements SampleSpace, Crop {
  static SubsetSpace of(SampleSpace whole, RowSubset rows) {
    return new SubsetSpace(whole, rows, whole.samplesWithin(rows));
  }

  @Override
  public long samples(long stored) {
    rows.checkWithin(stored);
    return samples.size();
  }

  @Override
  public int rowsPerSample() {
    return whole.rowsPerSample();
  }

  @Override
  public void rows(long sample, long[] found, int offset) {
    whole.rows(samples.row(sample), found, offset);
  }

  @Override
  public RowSubset samplesWithin(RowSubset subset) {
    throw new UnsupportedOperationException(
        "%s has a subset of samples: join the subsets by and(..)".formatted(describe()));
  }

  @Override
  public Optional<Crop> crop() {
    return whole.crop().isEmpty() ? Optional.empty() : Optional.of(this);
  }

  private Crop cropOfWhole() {
    return whole.crop().orElseThrow();
  }

  @Override
  public String field() {
    return cropOfWhole().field();
  }

  @Override
  public int[] shape() {
    return cropOfWhole().shape();
  }

  @Override
  public void origin(long epoch, long position, long sample, int[] origin) {
    cropOfWhole().origin(epoch, position, samples.row(sample), origin);
  }

  /** Returns words that precede those of the other space. */
  @Override
  public String describe() {
    String inner = whole.describe();
    return "within(%s)".formatted(rows.describe()) + (inner.isEmpty() ? "" : " " + inner);
  }
}
