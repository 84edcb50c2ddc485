// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;
import java.util.Objects;

/**
 * A sampler of rows drawn in proportion to weights. Without replacement, rows are drawn one after
 * the other, each at most once in an epoch: row i gets the key -ln(u) / weight with u drawn from
 * (0, 1), and the smallest keys come first (Efraimidis and Spirakis, 2006). Such an order costs a
 * sort and 24 bytes per row.
 */
final class WeightedSampler implements Sampler {
  private final long seed;
  private final long draws;
  private final double[] weights;
  private final String fingerprint;
  private final AliasTable table; // null without replacement

  private WeightedSampler(long seed, long draws, boolean replacing, double... weights) {
    this.seed = seed;
    this.draws = draws;
    this.weights = Checks.weights(weights);
    this.fingerprint = Fingerprint.of(weights);
    this.table = replacing ? new AliasTable(this.weights) : null;
  }

  static WeightedSampler replacing(long seed, long draws, double... weights) {
    if (draws < 0) {
      throw new IllegalArgumentException("%,d draws must be at least 0".formatted(draws));
    }
    return new WeightedSampler(seed, draws, true, weights);
  }

  static WeightedSampler withoutReplacement(long seed, int draws, double... weights) {
    WeightedSampler sampler = new WeightedSampler(seed, draws, false, weights);
    long possible = Arrays.stream(weights).filter(weight -> weight > 0).count();
    if (draws < 0 || draws > possible) {
      throw new IllegalArgumentException(
          "%,d draws without replacement outside [0, %,d], the rows of a weight above 0; more need weighted(..)"
              .formatted(draws, possible));
    }
    return sampler;
  }

  @Override
  public String describe() {
    return "%s(%d, %d of %s)"
        .formatted(table == null ? "weightedOnce" : "weighted", seed, draws, fingerprint);
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
    double[] selected = samples.select(weights);
    return table == null
        ? withoutReplacement(seed, (int) draws, selected)
        : replacing(seed, draws, selected);
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    Checks.samples(epoch.samples(), weights.length, "weights");
    long key = KeyedHash.key(seed, epoch.number(), epoch.part());
    if (table != null) {
      return new Draws(draws, table, KeyedHash.key(key, 0), KeyedHash.key(key, 1));
    }
    double[] arrival = new double[weights.length];
    for (int row = 0; row < arrival.length; row++) {
      arrival[row] =
          weights[row] == 0 // also -0.0, which would come first
              ? Double.POSITIVE_INFINITY
              : -StrictMath.log(KeyedHash.open(KeyedHash.word(key, row))) / weights[row];
    }
    return SampleOrder.of(ranked(arrival));
  }

  private record Draws(long size, AliasTable table, long placeKey, long choiceKey)
      implements SampleOrder {
    @Override
    public long at(long position) {
      return table.draw(KeyedHash.word(placeKey, position), KeyedHash.word(choiceKey, position));
    }
  }

  /** Returns the rows of the {@code draws} smallest arrivals, by arrival and then by number. */
  private long[] ranked(double... arrival) {
    double[] sorted = arrival.clone();
    Arrays.sort(sorted);
    long[] rows = new long[(int) draws];
    Arrays.fill(rows, -1);
    for (int row = 0; row < arrival.length; row++) {
      if (weights[row] == 0) {
        continue; // never drawn; a tiny weight may overflow to the same value
      }
      int place = Arrays.binarySearch(sorted, arrival[row]);
      while (place > 0 && sorted[place - 1] == arrival[row]) {
        place--;
      }
      while (place < draws && rows[place] >= 0) {
        place++;
      }
      if (place < draws) {
        rows[place] = row;
      }
    }
    return rows;
  }
}
