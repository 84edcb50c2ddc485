// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Blocks;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import org.ddstore.types.DType;

/**
 * A data-parallel training of a small network on images: each rank computes the gradients of its
 * part of a batch, and all ranks take the same step. Run by {@code ./ddstore example train}.
 */
final class Train {
  static final int RANKS = 2;
  private static final LoaderOptions FLOATS =
      LoaderOptions.defaults().cast("image", DType.FLOAT32, 1 / 255.0).cast("label", DType.FLOAT32);

  private Train() {}

  /** Trains on {@value #RANKS} ranks and returns the result of each. Blocks. */
  static List<Trained> train(Dataset<Row> images, int epochs, EpochLines.Reporter lines) {
    return DDStores.from(images)
        .columns("image", "label")
        .field("image", DType.UINT8, 28, 28)
        .ranks(RANKS)
        .run(rank -> train(rank, epochs, lines));
  }

  private static Trained train(RankContext rank, int epochs, EpochLines.Reporter lines) {
    Engine.getInstance().setRandomSeed(7); // all ranks start with the same parameters
    try (Model model = network();
        Trainer trainer = model.newTrainer(training(Loss.softmaxCrossEntropyLoss()));
        Loader loader = rank.loader(Samplers.shuffled(42).globalBatchSize(128), FLOATS)) {
      trainer.initialize(new Shape(1, 28, 28));
      return train(rank, epochs, lines, trainer, loader, Train::step);
    }
  }

  /** A step of all ranks. */
  interface Step {
    /** Returns this rank's part of the loss; the parts of all ranks add up to the global loss. */
    float run(Trainer trainer, LoadedBatch batch, Communicator ranks);
  }

  /** Takes the steps of all epochs. Collective. */
  static Trained train(
      RankContext rank,
      int epochs,
      EpochLines.Reporter lines,
      Trainer trainer,
      Loader loader,
      Step step) {
    Communicator ranks = rank.communicator();
    List<Double> losses = new ArrayList<>();
    List<CoverageReceipt> receipts = new ArrayList<>();
    for (int epoch = 0; epoch < epochs; epoch++) {
      double[] loss = {0, 0};
      for (LoadedBatch batch : loader.epoch(epoch)) {
        loss[0] += step.run(trainer, batch, ranks);
        loss[1] += batch.share();
      }
      ranks.allReduce(loss, ReduceOp.SUM);
      losses.add(loss[0] / loss[1]);
      receipts.add(loader.receipt(ranks));
      lines.epoch(rank.rank(), epoch + 1, Trained.result(loss[0] / loss[1], receipts.get(epoch)));
    }
    return Trained.of(rank.rank(), losses, receipts, hashes(trainer.getModel(), ranks));
  }

  private static Model network() {
    Model model = Model.newInstance("discs", Device.cpu());
    model.setBlock(
        new SequentialBlock()
            .add(Blocks.batchFlattenBlock(28 * 28))
            .add(Linear.builder().setUnits(64).build())
            .add(Activation::relu)
            .add(Linear.builder().setUnits(10).build()));
    return model;
  }

  static TrainingConfig training(Loss loss) {
    return new DefaultTrainingConfig(loss)
        .optDevices(new Device[] {Device.cpu()})
        .optOptimizer(Optimizer.adam().build());
  }

  private static float step(Trainer trainer, LoadedBatch batch, Communicator ranks) {
    try (NDManager memory = trainer.getManager().newSubManager();
        GradientCollector gradients = trainer.newGradientCollector()) {
      NDList scores = trainer.forward(new NDList(view(batch.field("image"), memory)));
      NDList labels = new NDList(view(batch.field("label"), memory));
      NDArray loss = trainer.getLoss().evaluate(labels, scores);
      loss = loss.mul(Factor.of(memory, batch.share()));
      gradients.backward(loss);
      sumGradients(trainer, ranks);
      trainer.step();
      return loss.getFloat();
    }
  }

  /**
   * Replaces the gradients by their sums over the ranks. Collective. The index copies the sums into
   * memory of PyTorch: after {@code gradient.set(sum)} or {@code copyTo} the gradient lies in
   * memory of the JVM, which frees it when it frees the closed array.
   */
  static void sumGradients(Trainer trainer, Communicator ranks) {
    for (Parameter parameter : trainer.getModel().getBlock().getParameters().values()) {
      try (NDArray gradient = parameter.getArray().getGradient()) {
        float[] sum = gradient.toFloatArray();
        ranks.allReduce(sum, ReduceOp.SUM); // weighted by the shares, so this is the average
        try (NDArray total = gradient.getManager().create(sum, gradient.getShape())) {
          gradient.set(new NDIndex(":"), total);
        }
      }
    }
  }

  /**
   * Returns an array over the tensor's memory, without a copy; invalid once the batch is closed.
   */
  static NDArray view(Tensor tensor, NDManager memory) {
    return memory.create(tensor.asByteBuffer(), new Shape(tensor.shape()), DataType.FLOAT32);
  }

  /** Returns the CRC-32 of the parameters of each rank. Collective. */
  static List<String> hashes(Model model, Communicator ranks) {
    CRC32 hash = new CRC32();
    model.getBlock().getParameters().values().forEach(p -> hash.update(p.getArray().toByteArray()));
    byte[] own = "%08x".formatted(hash.getValue()).getBytes(US_ASCII);
    return Stream.of(ranks.allGather(own)).map(hex -> new String(hex, US_ASCII)).toList();
  }
}
