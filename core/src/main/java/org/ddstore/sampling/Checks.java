package org.ddstore.sampling;

/** Refuses what a caller may not give, in the same words everywhere. */
final class Checks {
  private Checks() {}

  static int atLeastOne(int value, String name) {
    if (value < 1) {
      throw new IllegalArgumentException("%s %,d must be at least 1".formatted(name, value));
    }
    return value;
  }

  /** Refuses a number of samples that is not that of the values a sampler was given. */
  static void samples(long samples, long values, String what) {
    if (samples != values) {
      throw new IllegalArgumentException(
          "%,d samples, but %,d %s: give one for each".formatted(samples, values, what));
    }
  }

  /** Refuses an order that does not have as many positions as its sampler has said. */
  static SampleOrder order(Sampler sampler, SampleOrder order, long positions) {
    if (order.size() != positions) {
      throw new IllegalArgumentException(
          "%s has %,d positions, but gave an order of %,d: positions(..) must say the size of order(..)"
              .formatted(sampler.describe(), positions, order.size()));
    }
    return order;
  }

  /** Refuses weights that are negative, not finite, or all zero. */
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
