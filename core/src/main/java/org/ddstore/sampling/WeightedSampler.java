// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/** A sampler of rows drawn in proportion to weights, with replacement. */
final class WeightedSampler implements Sampler {
  private final long seed;
  private final long draws;
  private final double[] weights;
  private final String fingerprint;
  private final AliasTable table;

  WeightedSampler(long seed, long draws, double... weights) {
    if (draws < 0) {
      throw new IllegalArgumentException("%,d draws must be at least 0".formatted(draws));
    }
    this.seed = seed;
    this.draws = draws;
    this.weights = Checks.weights(weights);
    this.fingerprint = Fingerprint.of(weights);
    this.table = new AliasTable(this.weights);
  }

  @Override
  public String describe() {
    return "weighted(%d, %d of %s)".formatted(seed, draws, fingerprint);
  }

  @Override
  public long positions(long samples) {
    return draws;
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  @Override
  public Sampler forSamples(RowSubset samples) {
    Objects.requireNonNull(samples, "samples is null");
    return new WeightedSampler(seed, draws, samples.select(weights));
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    Checks.samples(epoch.samples(), weights.length, "weights");
    long key = KeyedHash.key(seed, epoch.number(), epoch.part());
    return new Draws(draws, table, KeyedHash.key(key, 0), KeyedHash.key(key, 1));
  }

  private record Draws(long size, AliasTable table, long placeKey, long choiceKey)
      implements SampleOrder {
    @Override
    public long at(long position) {
      return table.draw(KeyedHash.word(placeKey, position), KeyedHash.word(choiceKey, position));
    }
  }
}
