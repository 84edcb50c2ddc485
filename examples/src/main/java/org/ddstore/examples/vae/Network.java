// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.ddstore.examples.Factor;
import org.ddstore.examples.vae.Parameters.LayerArrays;

/**
 * The arithmetic of the variational autoencoder 784-400-20-400-784. An instance belongs to one
 * step: its arrays are closed with their manager.
 */
public final class Network {
  private final Map<Layer, LayerArrays> layers;

  private Network(Map<Layer, LayerArrays> layers) {
    this.layers = layers;
  }

  /**
   * Returns a network over parameters.
   *
   * @param memory owner of all arrays of the step; its device computes
   */
  public static Network over(Parameters parameters, NDManager memory) {
    return new Network(parameters.arrays(memory));
  }

  /**
   * Returns the parameters in their order in memory. A backward pass computes their gradients from
   * now on.
   */
  public List<NDArray> trained() {
    List<NDArray> arrays =
        layers.values().stream()
            .flatMap(layer -> Stream.of(layer.weights(), layer.biases()))
            .toList();
    arrays.forEach(array -> array.setRequiresGradient(true));
    return arrays;
  }

  private NDArray apply(Layer layer, NDArray input) {
    LayerArrays arrays = layers.get(layer);
    return input.matMul(arrays.weights()).add(arrays.biases());
  }

  /**
   * Returns the sum over images of the loss: the binary cross-entropy of the pixels, plus the
   * divergence of the code from a normal distribution.
   *
   * @param images values in [0, 1], of shape {@code [images, 784]}
   * @param noise normally distributed, of shape {@code [images, 20]}
   */
  public NDArray loss(NDArray images, NDArray noise) {
    NDArray half = Factor.of(images.getManager(), 0.5);
    NDArray hidden = Activation.relu(apply(Layer.ENCODER, images));
    NDArray mean = apply(Layer.MEAN, hidden);
    NDArray logVariance = apply(Layer.LOG_VARIANCE, hidden);
    NDArray code = mean.add(logVariance.mul(half).exp().mul(noise));
    NDArray logits = logits(code);
    NDArray crossEntropy = Activation.softPlus(logits).sub(logits.mul(images)).sum();
    NDArray divergence =
        mean.mul(mean).add(logVariance.exp()).sub(logVariance).sub(1).sum().mul(half);
    return crossEntropy.add(divergence);
  }

  private NDArray logits(NDArray code) {
    return apply(Layer.IMAGE, Activation.relu(apply(Layer.DECODER, code)));
  }

  /**
   * Returns the images that the network makes of codes.
   *
   * @param code of shape {@code [images, 20]}
   * @return values in [0, 1], of shape {@code [images, 784]}
   */
  public NDArray decode(NDArray code) {
    return Activation.sigmoid(logits(code));
  }

  /** Returns the images that the network makes of images, from the mean of their codes. */
  public NDArray reconstruct(NDArray images) {
    return decode(apply(Layer.MEAN, Activation.relu(apply(Layer.ENCODER, images))));
  }

  public static NDArray codes(NDManager memory, float... noise) {
    return memory.create(noise, new Shape(noise.length / Layer.LATENT, Layer.LATENT));
  }
}
