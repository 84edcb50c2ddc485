// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;

/**
 * Normally distributed numbers that depend on the row and the epoch, not on the rank: the same row
 * gets the same noise on any number of ranks, and again after a resume.
 */
public final class Noise {
  private Noise() {}

  /**
   * Returns {@value Layer#LATENT} numbers for each row.
   *
   * @param epoch number of the epoch, or any number that tells draws apart
   * @param rows number of rows
   * @param row global index of the row at a position in [0, rows)
   */
  public static float[] of(long seed, long epoch, int rows, IntToLongFunction row) {
    float[] noise = new float[rows * Layer.LATENT];
    long epochSeed = new SplittableRandom(seed ^ (epoch * 0x9E3779B97F4A7C15L)).nextLong();
    for (int i = 0; i < rows; i++) {
      SplittableRandom random =
          new SplittableRandom(epochSeed ^ (row.applyAsLong(i) * 0xD6E8FEB86659FD93L));
      for (int j = 0; j < Layer.LATENT; j += 2) { // the method of Box and Muller, as in vae.py
        double radius = Math.sqrt(-2 * Math.log(1 - random.nextDouble()));
        double angle = 2 * Math.PI * random.nextDouble();
        noise[i * Layer.LATENT + j] = (float) (radius * Math.cos(angle));
        noise[i * Layer.LATENT + j + 1] = (float) (radius * Math.sin(angle));
      }
    }
    return noise;
  }
}
