// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.util.ArrayList;
import java.util.List;

/**
 * The strokes of the ten digits, as lines between points of the unit square; y grows downwards, and
 * angles grow clockwise from the right, in degrees.
 */
final class DigitShape {
  private static final int ARC_STEP_DEGREES = 15;

  private static final List<DigitShape> DIGITS =
      List.of(
          new DigitShape().arc(0.5, 0.5, 0.27, 0.42, 0, 360),
          new DigitShape().stroke(0.34, 0.25, 0.54, 0.08, 0.54, 0.92),
          new DigitShape().arc(0.49, 0.32, 0.27, 0.24, 195, 395).to(0.23, 0.92).to(0.79, 0.92),
          new DigitShape()
              .arc(0.47, 0.29, 0.25, 0.21, 205, 450)
              .arc(0.47, 0.71, 0.29, 0.21, 270, 515),
          new DigitShape().stroke(0.6, 0.92, 0.6, 0.08, 0.2, 0.66, 0.82, 0.66),
          new DigitShape()
              .stroke(0.75, 0.1, 0.34, 0.1, 0.29, 0.46)
              .arcOn(0.47, 0.66, 0.28, 0.26, 230, 510),
          new DigitShape()
              .arc(0.78, 0.68, 0.53, 0.6, 262, 180)
              .arcOn(0.5, 0.68, 0.25, 0.23, 180, 540),
          new DigitShape().stroke(0.21, 0.1, 0.79, 0.1, 0.43, 0.92),
          new DigitShape().arc(0.5, 0.29, 0.21, 0.2, 90, 450).arc(0.5, 0.71, 0.26, 0.22, -90, 270),
          new DigitShape().arc(0.49, 0.32, 0.24, 0.23, 0, 360).to(0.71, 0.6).to(0.57, 0.92));

  private final List<double[]> lines = new ArrayList<>();
  private double x;
  private double y;

  private DigitShape() {}

  /**
   * Returns the shape of a digit.
   *
   * @param digit in [0, 10)
   */
  static DigitShape of(int digit) {
    return DIGITS.get(digit);
  }

  /** Returns the lines of the shape, each as x and y of its begin and of its end. */
  List<double[]> lines() {
    return lines;
  }

  private DigitShape from(double newX, double newY) {
    x = newX;
    y = newY;
    return this;
  }

  private DigitShape to(double nextX, double nextY) {
    lines.add(new double[] {x, y, nextX, nextY});
    return from(nextX, nextY);
  }

  /** Draws lines through points, given by x and y. */
  private DigitShape stroke(double... points) {
    from(points[0], points[1]);
    for (int i = 2; i < points.length; i += 2) {
      to(points[i], points[i + 1]);
    }
    return this;
  }

  /** Draws a part of an ellipse as a new stroke. */
  private DigitShape arc(
      double centreX, double centreY, double radiusX, double radiusY, int begin, int end) {
    double angle = StrictMath.toRadians(begin);
    return from(
            centreX + radiusX * StrictMath.cos(angle), centreY + radiusY * StrictMath.sin(angle))
        .arcOn(centreX, centreY, radiusX, radiusY, begin, end);
  }

  /** Continues the stroke by a part of an ellipse. */
  private DigitShape arcOn(
      double centreX, double centreY, double radiusX, double radiusY, int begin, int end) {
    int steps = Math.max(1, Math.abs(end - begin) / ARC_STEP_DEGREES);
    for (int i = 0; i <= steps; i++) {
      double angle = StrictMath.toRadians(begin + (end - begin) * (double) i / steps);
      to(centreX + radiusX * StrictMath.cos(angle), centreY + radiusY * StrictMath.sin(angle));
    }
    return this;
  }
}
