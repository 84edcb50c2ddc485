// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** Argument checks with uniform messages. */
final class Checks {
  private Checks() {}

  static int atLeastOne(int value, String name) {
    if (value < 1) {
      throw new IllegalArgumentException("%s %,d must be at least 1".formatted(name, value));
    }
    return value;
  }

  /** Rejects a number of samples that differs from the number of values given to a sampler. */
  static void samples(long samples, long values, String what) {
    if (samples != values) {
      throw new IllegalArgumentException(
          "%,d samples, but %,d %s: give one for each".formatted(samples, values, what));
    }
  }

  /** Rejects an order of another size than the number of positions that its sampler announced. */
  static SampleOrder order(Sampler sampler, SampleOrder order, long positions) {
    if (order.size() != positions) {
      throw new IllegalArgumentException(
          "sampler %s announces %,d positions, its order has %,d: positions(..) must return the size of order(..)"
              .formatted(sampler.describe(), positions, order.size()));
    }
    return order;
  }

  /** Rejects weights that are negative, not finite, or all zero. */
  static double[] weights(double... weights) {
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      if (!(weights[i] >= 0) || Double.isInfinite(weights[i])) {
        throw new IllegalArgumentException(
            "weight %s of number %,d outside [0, infinity)".formatted(weights[i], i));
      }
      sum += weights[i];
    }
    if (!(sum > 0) || Double.isInfinite(sum)) {
      throw new IllegalArgumentException(
          "%,d weights sum to %s: at least one must be above 0, and the sum finite"
              .formatted(weights.length, sum));
    }
    return weights.clone();
  }
}
