// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.FloatBuffer;

/**
 * The optimizer Adam. Its moments and its number of steps are part of a checkpoint: without them a
 * resumed training would take other steps than an undisturbed one.
 */
public final class Adam {
  private static final float DECAY = 0.9f;
  private static final float SQUARE_DECAY = 0.999f;
  private static final float EPSILON = 1e-8f;

  private final float rate;
  private final Parameters moment = Parameters.zeros();
  private final Parameters squareMoment = Parameters.zeros();
  private long steps;

  /**
   * @param rate length of a step
   */
  public Adam(float rate) {
    this.rate = rate;
  }

  public long steps() {
    return steps;
  }

  public void step(Parameters parameters, Parameters gradients) {
    steps++;
    float stepRate = (float) (rate / (1 - Math.pow(DECAY, (double) steps)));
    float squareScale = (float) (1 / (1 - Math.pow(SQUARE_DECAY, (double) steps)));
    FloatBuffer weight = parameters.floats();
    FloatBuffer gradient = gradients.floats();
    FloatBuffer first = moment.floats();
    FloatBuffer second = squareMoment.floats();
    for (int i = 0; i < Layer.totalSize(); i++) {
      float g = gradient.get(i);
      float m = DECAY * first.get(i) + (1 - DECAY) * g;
      float v = SQUARE_DECAY * second.get(i) + (1 - SQUARE_DECAY) * g * g;
      first.put(i, m);
      second.put(i, v);
      weight.put(i, weight.get(i) - stepRate * m / ((float) Math.sqrt(v * squareScale) + EPSILON));
    }
  }

  public void write(DataOutputStream to) throws IOException {
    to.writeLong(steps);
    moment.write(to);
    squareMoment.write(to);
  }

  public void read(DataInputStream from) throws IOException {
    steps = from.readLong();
    moment.read(from);
    squareMoment.read(from);
  }
}
