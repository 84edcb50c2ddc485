// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** Pearson's test of counts against what is expected. */
final class ChiSquare {
  private ChiSquare() {}

  static double equal(long... counts) {
    double[] weights = new double[counts.length];
    java.util.Arrays.fill(weights, 1);
    return of(counts, weights);
  }

  static double of(long[] counts, double[] weights) {
    double weight = 0;
    long total = 0;
    for (int i = 0; i < counts.length; i++) {
      weight += weights[i];
      total += counts[i];
    }
    double sum = 0;
    for (int i = 0; i < counts.length; i++) {
      double expected = total * weights[i] / weight;
      sum += expected == 0 ? counts[i] : (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return sum;
  }

  /**
   * The value that a fair source exceeds once in about 30,000 cases: mean + 4 standard deviations
   * of the Wilson-Hilferty approximation. With fixed seeds a test that passes once passes for ever,
   * so this only has to leave no room for a source that is visibly unfair.
   */
  static double limit(int degrees) {
    double part = 2.0 / (9.0 * degrees);
    return degrees * Math.pow(1 - part + 4 * Math.sqrt(part), 3);
  }
}
