// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Everything of a training that a checkpoint contains beside the position of the loader: the
 * parameters, the optimizer and the results so far. It is the same on all ranks after each step, so
 * one rank saves it.
 */
final class VaeState {
  private static final float RATE = 1e-3f;

  private final Parameters parameters;
  private final Adam adam = new Adam(RATE);
  private final List<TrainedEpoch> epochs = new ArrayList<>();
  private BatchSums epoch = BatchSums.NONE;
  private long images;

  VaeState(long seed) {
    this.parameters = Parameters.random(seed);
  }

  Parameters parameters() {
    return parameters;
  }

  /** Returns the number of steps of this training, including those before a resume. */
  long steps() {
    return adam.steps();
  }

  /** Returns the number of images trained on in this process. */
  long images() {
    return images;
  }

  List<TrainedEpoch> epochs() {
    return List.copyOf(epochs);
  }

  BatchSums epoch() {
    return epoch;
  }

  /**
   * Takes a step.
   *
   * @param gradients mean over the images of the global batch
   * @param sums sums over the global batch
   */
  void step(Parameters gradients, BatchSums sums) {
    adam.step(parameters, gradients);
    epoch = epoch.plus(sums);
    images += (long) sums.images();
  }

  void endEpoch(TrainedEpoch result) {
    epochs.add(result);
    epoch = BatchSums.NONE;
  }

  /** Writes all of it. */
  void write(OutputStream out) throws IOException {
    DataOutputStream to = new DataOutputStream(new BufferedOutputStream(out));
    parameters.write(to);
    adam.write(to);
    to.writeDouble(epoch.loss());
    to.writeDouble(epoch.images());
    to.writeDouble(epoch.mismatches());
    to.writeInt(epochs.size());
    for (TrainedEpoch result : epochs) {
      result.write(to);
    }
    to.flush();
  }

  /** Replaces all of it by what {@link #write} has written. */
  void read(InputStream in) throws IOException {
    DataInputStream from = new DataInputStream(in);
    parameters.read(from);
    adam.read(from);
    epoch = new BatchSums(from.readDouble(), from.readDouble(), from.readDouble());
    epochs.clear();
    for (int left = from.readInt(); left > 0; left--) {
      epochs.add(TrainedEpoch.read(from));
    }
  }
}
