// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.nn.core.Linear;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;

/**
 * Prints the gradients of a step as {@link Train} takes it. Memory of the JVM to which nothing
 * refers is freed and used again before the backward pass, and before the gradients are read. Needs
 * PyTorch on its class path.
 */
final class GradientProgram {
  private static final int BUFFERS = 5_000;

  private GradientProgram() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (Communicator alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
        Model model = Model.newInstance("linear", Device.cpu())) {
      model.setBlock(Linear.builder().setUnits(1).build());
      try (Trainer trainer = model.newTrainer(Train.training(Loss.l2Loss()))) {
        trainer.initialize(new Shape(1, 2));
        System.out.println(gradients(trainer, alone));
      }
    }
  }

  private static String gradients(Trainer trainer, Communicator ranks) throws InterruptedException {
    try (NDManager memory = trainer.getManager().newSubManager();
        GradientCollector collector = trainer.newGradientCollector()) {
      NDArray input = memory.create(new float[] {1, 2}, new Shape(1, 2));
      NDArray output = trainer.forward(new NDList(input)).singletonOrThrow();
      NDArray loss = output.sum().mul(Factor.of(memory, 0.5));
      List<ByteBuffer> others = new ArrayList<>(reuseFreeMemory());
      collector.backward(loss);
      Train.sumGradients(trainer, ranks);
      others.addAll(reuseFreeMemory());
      StringJoiner gradients = new StringJoiner(" ");
      for (Parameter parameter : trainer.getModel().getBlock().getParameters().values()) {
        try (NDArray gradient = parameter.getArray().getGradient()) {
          for (float value : gradient.toFloatArray()) {
            gradients.add(Float.toString(value));
          }
        }
      }
      return gradients + "; " + others.size();
    }
  }

  private static List<ByteBuffer> reuseFreeMemory() throws InterruptedException {
    System.gc();
    Thread.sleep(200); // for the thread that frees the memory
    List<ByteBuffer> buffers = new ArrayList<>();
    for (int i = 0; i < BUFFERS; i++) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(2 * Float.BYTES).order(ByteOrder.nativeOrder());
      buffers.add(buffer.putFloat(0, 777).putFloat(Float.BYTES, 777));
    }
    return buffers;
  }
}
