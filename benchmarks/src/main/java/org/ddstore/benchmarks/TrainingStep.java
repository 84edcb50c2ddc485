// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.concurrent.TimeUnit;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;

/**
 * A step as a data-parallel training has it: a computation of fixed work, an average of gradients
 * over the ranks, and an update with two moments per parameter.
 */
final class TrainingStep {
  private static final int CALIBRATION_PASSES = 200;

  private final Communicator ranks;
  private final float[][] state; // weights, first and second moments
  private final ByteBuffer gradients;
  private final float[] scratch;
  private int passes = 1;

  TrainingStep(Communicator ranks, int parameters) {
    this.ranks = ranks;
    this.state = new float[3][parameters];
    this.scratch = new float[parameters];
    this.gradients =
        ByteBuffer.allocateDirect(parameters * Float.BYTES).order(ByteOrder.nativeOrder());
  }

  void calibrate(double stepMillis) {
    for (int pass = 0; pass < CALIBRATION_PASSES; pass++) {
      compute();
    }
    long start = System.nanoTime();
    for (int pass = 0; pass < CALIBRATION_PASSES; pass++) {
      compute();
    }
    double[] passMillis = {
      (double) (System.nanoTime() - start) / TimeUnit.MILLISECONDS.toNanos(1) / CALIBRATION_PASSES
    };
    ranks.allReduce(passMillis, ReduceOp.MAX);
    passes = (int) Math.max(1, Math.round(stepMillis / passMillis[0]));
  }

  void run() {
    for (int pass = 0; pass < passes; pass++) {
      compute();
    }
    FloatBuffer floats = gradients.asFloatBuffer();
    floats.put(0, scratch);
    ranks.allReduce(floats, ReduceOp.SUM);
    floats.get(0, scratch);
    float share = 1f / ranks.size();
    for (int i = 0; i < scratch.length; i++) {
      float gradient = scratch[i] * share;
      state[1][i] = 0.9f * state[1][i] + 0.1f * gradient;
      state[2][i] = 0.999f * state[2][i] + 0.001f * gradient * gradient;
      state[0][i] -= 1e-3f * state[1][i] / ((float) Math.sqrt(state[2][i]) + 1e-8f);
    }
  }

  private void compute() {
    for (int i = 0; i < scratch.length; i++) {
      scratch[i] = 0.5f * scratch[i] + state[0][i] * 0.25f + 1e-3f * (i & 0xFF);
    }
  }

  /** Writes weights and moments as floats in big-endian byte order. */
  void write(OutputStream out) throws IOException {
    ByteBuffer block = ByteBuffer.allocate(1 << 16);
    for (float[] part : state) {
      for (int from = 0; from < part.length; from += block.capacity() / Float.BYTES) {
        int count = Math.min(part.length - from, block.capacity() / Float.BYTES);
        block.asFloatBuffer().put(part, from, count);
        out.write(block.array(), 0, count * Float.BYTES);
      }
    }
  }
}
