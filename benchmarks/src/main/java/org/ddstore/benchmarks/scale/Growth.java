// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.util.Locale;
import org.apache.commons.math3.stat.regression.SimpleRegression;

/** The order of growth of a part: the exponent of a power law fitted to values of several sizes. */
final class Growth {
  /** Deviation from a whole exponent that noise and logarithms explain. */
  private static final double TOLERANCE = 0.3;

  private final SimpleRegression fit = new SimpleRegression();

  void add(double ranks, double value) {
    if (value > 0) {
      fit.addData(Math.log(ranks), Math.log(value));
    }
  }

  /** Returns the exponent; NaN for less than two values. */
  double exponent() {
    return fit.getSlope();
  }

  /** Returns a text such as {@code O(P)}, with P ranks; a dash for less than two values. */
  @Override
  public String toString() {
    double exponent = exponent();
    if (Double.isNaN(exponent)) {
      return "-";
    }
    if (exponent <= TOLERANCE) {
      return "O(1)";
    }
    long whole = Math.round(exponent);
    if (Math.abs(exponent - whole) > TOLERANCE) {
      return String.format(Locale.ROOT, "O(P^%.1f)", exponent);
    }
    return whole == 1 ? "O(P)" : "O(P^" + whole + ")";
  }
}
