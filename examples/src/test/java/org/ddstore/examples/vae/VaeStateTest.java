// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VaeStateTest {
  private static final TrainedEpoch EPOCH = new TrainedEpoch(200, 150, 1, true, "all", "tests");

  /** Takes a step by gradients that depend on the seed. */
  private static void step(VaeState state, int seed) {
    Parameters gradients = Parameters.zeros();
    FloatBuffer floats = gradients.floats();
    SplittableRandom random = new SplittableRandom(seed);
    while (floats.hasRemaining()) {
      floats.put((float) random.nextDouble(-1, 1));
    }
    state.step(gradients, new BatchSums(100 + seed, 64, 0));
  }

  private static byte[] written(VaeState state) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    state.write(bytes);
    return bytes.toByteArray();
  }

  @Test
  void aRestoredStateTakesTheSameSteps() throws IOException {
    VaeState undisturbed = new VaeState(1);
    step(undisturbed, 1);
    undisturbed.endEpoch(EPOCH);
    step(undisturbed, 2);

    VaeState restored = new VaeState(2);
    step(restored, 7);
    restored.read(new ByteArrayInputStream(written(undisturbed)));

    assertThat(restored.steps()).isEqualTo(2);
    assertThat(restored.epochs()).containsExactly(EPOCH);
    assertThat(restored.epoch()).isEqualTo(new BatchSums(102, 64, 0));
    step(undisturbed, 3);
    step(restored, 3);
    assertThat(written(restored)).isEqualTo(written(undisturbed));
    assertThat(restored.parameters().checksum()).isEqualTo(undisturbed.parameters().checksum());
  }

  @Test
  void refusesAnIncompleteState() throws IOException {
    byte[] bytes = written(new VaeState(1));
    VaeState state = new VaeState(1);

    for (int length : new int[] {0, 1000, bytes.length - 1}) {
      assertThatThrownBy(() -> state.read(new ByteArrayInputStream(Arrays.copyOf(bytes, length))))
          .isInstanceOf(EOFException.class);
    }
  }

  @Test
  void equalSeedsGiveEqualParametersWithinTheirBounds() {
    assertThat(new VaeState(5).parameters().checksum())
        .isEqualTo(new VaeState(5).parameters().checksum())
        .isNotEqualTo(new VaeState(6).parameters().checksum());
    FloatBuffer floats = Parameters.random(5).floats();
    assertThat(floats.remaining()).isEqualTo(Layer.totalSize()).isEqualTo(652_824);
    double sum = 0;
    for (int i = 0; i < Layer.ENCODER.size(); i++) {
      assertThat(Math.abs(floats.get(i))).isLessThanOrEqualTo(1 / 28f);
      sum += floats.get(i);
    }
    assertThat(sum / Layer.ENCODER.size()).isCloseTo(0, within(0.001));
  }

  /**
   * The moments of a constant gradient are the gradient, so each step has the length of the rate.
   */
  @Test
  void stepsHaveTheLengthOfTheRate() {
    Parameters parameters = Parameters.zeros();
    Parameters gradients = Parameters.zeros();
    gradients.floats().put(0, 5).put(1, -0.01f);
    Adam adam = new Adam(0.25f);
    for (int i = 1; i <= 20; i++) {
      adam.step(parameters, gradients);
      assertThat(parameters.floats().get(0)).isCloseTo(-0.25f * i, within(0.01f));
      assertThat(parameters.floats().get(1)).isCloseTo(0.25f * i, within(0.01f));
      assertThat(parameters.floats().get(2)).isZero();
    }
  }
}
