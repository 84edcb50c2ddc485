// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

/**
 * One float for each parameter of the network, in one block of direct memory: the parameters
 * themselves, their gradients, or a moment of the optimizer. The layers follow each other in the
 * order of {@link Layer}. Not safe for use by several threads.
 */
public final class Parameters {
  private final ByteBuffer bytes;

  private Parameters(int floats) {
    this.bytes = ByteBuffer.allocateDirect(floats * Float.BYTES).order(ByteOrder.nativeOrder());
  }

  static Parameters zeros() {
    return new Parameters(Layer.totalSize());
  }

  /**
   * Returns a block of zeros that ends with further floats, so that one collective reduces all.
   *
   * @param more number of further floats
   */
  public static Parameters zerosAnd(int more) {
    return new Parameters(Layer.totalSize() + more);
  }

  /**
   * Returns random parameters, uniform in [-b, b] where b is one over the square root of the inputs
   * of the layer. Equal seeds give equal parameters, so all ranks begin with the same.
   */
  public static Parameters random(long seed) {
    Parameters parameters = zeros();
    FloatBuffer floats = parameters.floats();
    SplittableRandom random = new SplittableRandom(seed);
    for (Layer layer : Layer.values()) {
      double bound = 1 / Math.sqrt(layer.inputs());
      for (int i = 0; i < layer.size(); i++) {
        floats.put((float) ((2 * random.nextDouble() - 1) * bound));
      }
    }
    return parameters;
  }

  /** Returns a view of all floats, at position 0. */
  public FloatBuffer floats() {
    return bytes.asFloatBuffer();
  }

  public void clear() {
    for (int i = 0; i < bytes.capacity(); i += Float.BYTES) {
      bytes.putFloat(i, 0);
    }
  }

  /**
   * The parameters of one layer.
   *
   * @param weights array of shape {@code [inputs, outputs]}
   * @param biases array of shape {@code [outputs]}
   */
  record LayerArrays(NDArray weights, NDArray biases) {}

  /**
   * Returns the parameters of each layer as arrays: on the CPU views of this memory, on a GPU
   * copies.
   *
   * @param memory owner of the arrays
   */
  Map<Layer, LayerArrays> arrays(NDManager memory) {
    Map<Layer, LayerArrays> arrays = new EnumMap<>(Layer.class);
    int from = 0;
    for (Layer layer : Layer.values()) {
      int weights = layer.inputs() * layer.outputs();
      arrays.put(
          layer,
          new LayerArrays(
              array(memory, from, weights, new Shape(layer.inputs(), layer.outputs())),
              array(memory, from + weights, layer.outputs(), new Shape(layer.outputs()))));
      from += layer.size();
    }
    return arrays;
  }

  private NDArray array(NDManager memory, int from, int floats, Shape shape) {
    ByteBuffer part = bytes.slice(from * Float.BYTES, floats * Float.BYTES);
    return memory.create(part.order(ByteOrder.nativeOrder()), shape, DataType.FLOAT32);
  }

  /**
   * Copies the gradients of arrays into this memory.
   *
   * @param arrays weights and biases of all layers, in their order in memory, after a backward pass
   */
  public void putGradients(List<NDArray> arrays) {
    ByteBuffer target = bytes.duplicate().order(ByteOrder.nativeOrder());
    for (NDArray array : arrays) {
      try (NDArray gradient = array.getGradient()) {
        target.put(gradient.toByteBuffer());
      }
    }
  }

  /** Returns the CRC-32 of all bytes, in hexadecimal digits. */
  public String checksum() {
    CRC32 checksum = new CRC32();
    checksum.update(bytes.duplicate());
    return "%08x".formatted(checksum.getValue());
  }

  public void write(OutputStream to) throws IOException {
    WritableByteChannel channel = Channels.newChannel(to);
    ByteBuffer rest = bytes.duplicate();
    while (rest.hasRemaining()) {
      channel.write(rest);
    }
  }

  public void read(InputStream from) throws IOException {
    ReadableByteChannel channel = Channels.newChannel(from);
    ByteBuffer rest = bytes.duplicate();
    while (rest.hasRemaining()) {
      if (channel.read(rest) < 0) {
        throw new EOFException("parameters end %,d bytes early".formatted(rest.remaining()));
      }
    }
  }
}
