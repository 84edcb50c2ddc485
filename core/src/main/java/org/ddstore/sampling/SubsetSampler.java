// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A sampler of the samples of a subset.
 *
 * @param whole sampler of all samples
 * @param inner order of the samples of the subset, by their numbers in it
 */
record SubsetSampler(SubsetSpace space, Sampler whole, Sampler inner) implements DelegatingSampler {
  static SubsetSampler of(Sampler whole, RowSubset rows) {
    SubsetSpace space = SubsetSpace.of(whole.space(), rows);
    return new SubsetSampler(space, whole, whole.forSamples(space.samples()));
  }

  @Override
  public Sampler within(RowSubset rows) {
    return of(whole, space.rows().and(rows));
  }

  @Override
  public String describe() {
    return "within(%s) %s".formatted(space.rows().describe(), inner.describe());
  }

  /** A sampler of batches, as of a store that has the rows of a subset only. */
  record OfBatches(SubsetSpace space, BatchSampler whole) implements BatchSampler {
    static OfBatches of(BatchSampler whole, RowSubset rows) {
      if (whole.space() != SampleSpace.ROWS) {
        throw new IllegalArgumentException(
            "within(%s) of %s: samples of this sampler are not rows; override within(..) in it"
                .formatted(rows, whole.getClass().getName()));
      }
      return new OfBatches(SubsetSpace.of(SampleSpace.ROWS, rows), whole);
    }

    @Override
    public EpochBatches epoch(long rows, WorldRank place, long epoch) {
      return whole.epoch(space.samples(rows), place, epoch);
    }

    @Override
    public BatchSampler within(RowSubset rows) {
      return of(whole, space.rows().and(rows));
    }

    @Override
    public boolean neverWaits() {
      return whole.neverWaits();
    }

    @Override
    public String describe(int world) {
      return space.describe() + " " + whole.describe(world);
    }
  }
}
