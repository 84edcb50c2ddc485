// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class NoiseTest {
  @Test
  void noiseDependsOnSeedEpochAndRowAlone() {
    float[] some = Noise.of(7, 2, 3, i -> 100 + i);
    float[] other = Noise.of(7, 2, 2, i -> 102 - i);

    assertThat(some).hasSize(3 * Layer.LATENT);
    assertThat(Arrays.copyOfRange(other, Layer.LATENT, 2 * Layer.LATENT))
        .isEqualTo(Arrays.copyOfRange(some, Layer.LATENT, 2 * Layer.LATENT));
    assertThat(Noise.of(7, 3, 1, i -> 100)).isNotEqualTo(Noise.of(7, 2, 1, i -> 100));
    assertThat(Noise.of(8, 2, 1, i -> 100)).isNotEqualTo(Noise.of(7, 2, 1, i -> 100));
    assertThat(Noise.of(7, 2, 1, i -> 101)).isNotEqualTo(Noise.of(7, 2, 1, i -> 100));
  }

  @Test
  void noiseIsNormallyDistributed() {
    float[] noise = Noise.of(1, 0, 10_000, i -> i);
    double sum = 0;
    double squares = 0;
    double neighbours = 0;
    for (int i = 0; i < noise.length; i++) {
      sum += noise[i];
      squares += noise[i] * noise[i];
      neighbours += noise[i] * noise[(i + Layer.LATENT) % noise.length];
    }
    assertThat(sum / noise.length).isCloseTo(0, within(0.01));
    assertThat(squares / noise.length).isCloseTo(1, within(0.02));
    assertThat(neighbours / noise.length).as("correlation of rows").isCloseTo(0, within(0.01));
  }
}
