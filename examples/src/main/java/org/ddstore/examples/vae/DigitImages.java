// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.util.SplittableRandom;

/**
 * A generator of images that look like written digits: strokes of one of ten shapes, with random
 * place, size, slant, rotation, bend and thickness. The image of a number is the same on every
 * machine.
 */
public final class DigitImages {
  private static final long SEED = 20_261_123;
  private static final double BOX = 20;
  private static final double CENTRE = Layer.SIDE / 2.0;
  private static final double BRIGHTEST = 255;

  private DigitImages() {}

  /** Returns the pixels of an image, row by row, from 0 (paper) to 255 (ink). */
  public static byte[] image(long number) {
    SplittableRandom random =
        new SplittableRandom(
            new SplittableRandom(SEED ^ (number * 0xD6E8FEB86659FD93L)).nextLong());
    DigitShape digit = DigitShape.of(random.nextInt(10));
    Pen pen = Pen.random(random);
    double[][] lines = digit.lines().stream().map(pen::transform).toArray(double[][]::new);
    byte[] pixels = new byte[Layer.PIXELS];
    for (int y = 0; y < Layer.SIDE; y++) {
      for (int x = 0; x < Layer.SIDE; x++) {
        double ink = 0.5 + pen.radius() - distance(lines, x + 0.5, y + 0.5);
        pixels[y * Layer.SIDE + x] = (byte) Math.round(BRIGHTEST * Math.min(1, Math.max(0, ink)));
      }
    }
    return pixels;
  }

  /** Returns the distance of a point from the nearest line, in pixels. */
  private static double distance(double[][] lines, double x, double y) {
    double nearest = Double.MAX_VALUE;
    for (double[] line : lines) {
      double dx = line[2] - line[0];
      double dy = line[3] - line[1];
      double length = dx * dx + dy * dy;
      double along = length == 0 ? 0 : ((x - line[0]) * dx + (y - line[1]) * dy) / length;
      double part = Math.min(1, Math.max(0, along));
      double ex = x - line[0] - part * dx;
      double ey = y - line[1] - part * dy;
      nearest = Math.min(nearest, ex * ex + ey * ey);
    }
    return Math.sqrt(nearest);
  }

  /**
   * The way in which a shape is drawn.
   *
   * @param radius half of the thickness of a line, in pixels
   * @param bend amplitude of a wave along the shape, in the unit of the shape
   * @param phase of the wave, in radians
   */
  private record Pen(
      double width,
      double height,
      double slant,
      double rotation,
      double shiftX,
      double shiftY,
      double radius,
      double bend,
      double phase) {
    static Pen random(SplittableRandom random) {
      return new Pen(
          BOX * random.nextDouble(0.75, 1.1),
          BOX * random.nextDouble(0.9, 1.1),
          random.nextDouble(-0.15, 0.4),
          random.nextDouble(-0.12, 0.12),
          random.nextDouble(-1, 1),
          random.nextDouble(-1, 1),
          random.nextDouble(0.8, 1.7),
          random.nextDouble(0, 0.04),
          random.nextDouble(0, 2 * Math.PI));
    }

    /** Returns a line of a shape in pixels of the image. */
    double[] transform(double... line) {
      double[] placed = new double[line.length];
      for (int i = 0; i < line.length; i += 2) {
        double y = line[i + 1] - 0.5;
        double x = line[i] - 0.5 - slant * y + bend * StrictMath.sin(2 * Math.PI * y + phase);
        double cos = StrictMath.cos(rotation);
        double sin = StrictMath.sin(rotation);
        placed[i] = CENTRE + shiftX + width * x * cos - height * y * sin;
        placed[i + 1] = CENTRE + shiftY + width * x * sin + height * y * cos;
      }
      return placed;
    }
  }
}
