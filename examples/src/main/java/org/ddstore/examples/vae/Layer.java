// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

/** The fully connected layers of the network, in the order of their parameters in memory. */
public enum Layer {
  ENCODER(Layer.PIXELS, Layer.HIDDEN),
  MEAN(Layer.HIDDEN, Layer.LATENT),
  LOG_VARIANCE(Layer.HIDDEN, Layer.LATENT),
  DECODER(Layer.LATENT, Layer.HIDDEN),
  IMAGE(Layer.HIDDEN, Layer.PIXELS);
  public static final int SIDE = 28;
  public static final int PIXELS = SIDE * SIDE;

  static final int HIDDEN = 400;

  /** Numbers that describe an image. */
  public static final int LATENT = 20;

  private final int inputs;
  private final int outputs;

  Layer(int inputs, int outputs) {
    this.inputs = inputs;
    this.outputs = outputs;
  }

  int inputs() {
    return inputs;
  }

  int outputs() {
    return outputs;
  }

  /** Returns the number of parameters: the weights {@code [inputs, outputs]}, then the biases. */
  int size() {
    return (inputs + 1) * outputs;
  }

  public static int totalSize() {
    int size = 0;
    for (Layer layer : values()) {
      size += layer.size();
    }
    return size;
  }
}
