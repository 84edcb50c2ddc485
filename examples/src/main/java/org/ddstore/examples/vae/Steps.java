// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import java.nio.FloatBuffer;
import java.util.List;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.examples.Factor;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;

/**
 * The steps of one rank. Each rank computes the gradients of its part of a batch; their sum over
 * the ranks is the gradient of the global batch, by which all ranks take the same step. Methods
 * that take a batch or a loader are collective.
 */
final class Steps {
  /** Epoch number of the noise of test images, which is the same in all epochs. */
  private static final long TEST_NOISE = -1;

  /** Sums that are reduced together with the gradients: loss, images, mismatches. */
  private static final int SUMS = 3;

  /** PyTorch in DJL has one gradient collector per JVM, so its ranks take turns. */
  private static final Object ENGINE = new Object();

  private final Communicator ranks;
  private final Device device;
  private final ImageCheck check;
  private final long seed;
  private final Parameters gradients = Parameters.zerosAnd(SUMS);

  Steps(Communicator ranks, Device device, ImageCheck check, long seed) {
    this.ranks = ranks;
    this.device = device;
    this.check = check;
    this.seed = seed;
  }

  /** Takes a step by the gradients of a batch. Every rank calls it, also with an empty part. */
  void train(LoadedBatch batch, VaeState state) {
    gradients.clear();
    if (batch.samples() > 0) {
      put(computeGradients(batch, state.parameters()));
    }
    FloatBuffer all = gradients.floats();
    ranks.allReduce(all, ReduceOp.SUM); // in direct memory
    int sums = Layer.totalSize();
    state.step(gradients, new BatchSums(all.get(sums), all.get(sums + 1), all.get(sums + 2)));
  }

  private void put(BatchSums sums) {
    gradients
        .floats()
        .position(Layer.totalSize())
        .put((float) sums.loss())
        .put((float) sums.images())
        .put((float) sums.mismatches());
  }

  private BatchSums computeGradients(LoadedBatch batch, Parameters parameters) {
    synchronized (ENGINE) {
      try (NDManager memory = NDManager.newBaseManager(device);
          GradientCollector collector = Engine.getInstance().newGradientCollector()) {
        Network network = Network.over(parameters, memory);
        List<NDArray> trained = network.trained();
        NDArray loss = loss(network, batch, batch.epoch(), memory);
        NDArray weight = Factor.of(memory, batch.share() / batch.samples());
        collector.backward(loss.mul(weight));
        gradients.putGradients(trained);
        return sums(loss, batch);
      }
    }
  }

  private NDArray loss(Network network, LoadedBatch batch, long noise, NDManager memory) {
    NDArray images = view(batch.field(TrainingImages.IMAGE), memory);
    return network.loss(
        images, Network.codes(memory, Noise.of(seed, noise, batch.samples(), batch::row)));
  }

  /** Returns an array over the tensor's memory, without a copy if the device is the CPU. */
  private static NDArray view(Tensor images, NDManager memory) {
    return memory.create(
        images.asByteBuffer(), new Shape(images.rows(), Layer.PIXELS), DataType.FLOAT32);
  }

  private BatchSums sums(NDArray loss, LoadedBatch batch) {
    return new BatchSums(loss.getFloat(), batch.samples(), check.mismatches(batch));
  }

  /** Returns the sums over the test images of all ranks. */
  BatchSums test(Loader images, Parameters parameters) {
    BatchSums own = BatchSums.NONE;
    for (LoadedBatch batch : images.epoch(0)) {
      if (batch.samples() > 0) {
        own = own.plus(testBatch(batch, parameters));
      }
    }
    double[] all = {own.loss(), own.images(), own.mismatches()};
    ranks.allReduce(all, ReduceOp.SUM);
    return new BatchSums(all[0], all[1], all[2]);
  }

  private BatchSums testBatch(LoadedBatch batch, Parameters parameters) {
    synchronized (ENGINE) {
      try (NDManager memory = NDManager.newBaseManager(device)) {
        Network network = Network.over(parameters, memory);
        return sums(loss(network, batch, TEST_NOISE, memory), batch);
      }
    }
  }

  /**
   * Returns images that the network makes. Local.
   *
   * @param originals pixels of images, {@value Layer#PIXELS} bytes each
   * @param samples number of images to make of random codes
   */
  Pictures draw(byte[] originals, int samples, Parameters parameters) {
    float[] values = new float[originals.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = (originals[i] & 0xFF) / 255f;
    }
    synchronized (ENGINE) {
      try (NDManager memory = NDManager.newBaseManager(device)) {
        Network network = Network.over(parameters, memory);
        NDArray images =
            memory.create(values, new Shape(values.length / Layer.PIXELS, Layer.PIXELS));
        float[] noise = Noise.of(seed, TEST_NOISE, samples, row -> row);
        return new Pictures(
            Pictures.cut(values),
            Pictures.cut(network.reconstruct(images).toFloatArray()),
            Pictures.cut(network.decode(Network.codes(memory, noise)).toFloatArray()));
      }
    }
  }
}
