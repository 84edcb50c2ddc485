// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Interruption;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.RowSubset;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import picocli.CommandLine;

/**
 * A training on sparse rows, such as gene counts of single cells: the kinds of cells are of very
 * different frequency, and a batch has all of them equally often. The rows are dense only in the
 * batch. The loss is that of the test rows, which are other rows of the same store. Run by {@code
 * ./ddstore example sparse} or by spark-submit.
 */
public final class Sparse {
  private static final int GENES = 512;
  private static final int BATCH = 64;
  private static final LoaderOptions DENSE =
      LoaderOptions.defaults().fields("genes", "counts").densify("counts", "genes", GENES);

  private Sparse() {}

  /** Exits with 0 if the training is sound, 1 if not, 2 if an argument is illegal. */
  public static void main(String[] arguments) {
    Interruption.exitAfter(() -> command().execute(arguments));
  }

  static CommandLine command() {
    String description =
        "Trains a network (512-32-4) to tell kinds of cells apart by their sparse gene counts, in"
            + " batches of balanced classes, on two executors.";
    return TrainingCommand.parser("sparse", description, 4000, 500, Sparse::train);
  }

  private static List<Trained> train(
      EmbeddedSpark spark, long rows, int epochs, EpochLines.Reporter lines) {
    return DDStores.from(cells(spark.session(), rows))
        .ranks(Train.RANKS)
        .run(rank -> train(rank, epochs, lines));
  }

  /** Returns cells: the genes that are present, their counts, and the kind of the cell. */
  static Dataset<Row> cells(SparkSession spark, long rows) {
    return spark
        .range(rows)
        .selectExpr("id", "pmod(hash(id), 100) as draw")
        .selectExpr("id", "if(draw < 70, 0, if(draw < 90, 1, if(draw < 97, 2, 3))) as k")
        .selectExpr(
            "id",
            "array('T cell', 'B cell', 'monocyte', 'platelet')[k] as kind",
            "filter(sequence(0, 511), g -> pmod(hash(id, g), 100) < if(g div 128 = k, 12, 3)) as genes",
            "pmod(hash(id, 'part'), 5) = 0 as is_test")
        .selectExpr(
            "kind",
            "is_test",
            "genes",
            "transform(genes, g -> float(ln(2 + pmod(hash(id, g, 2), 20)))) as counts");
  }

  private static Trained train(RankContext rank, int epochs, EpochLines.Reporter lines) {
    Engine.getInstance().setRandomSeed(7); // all ranks start with the same parameters
    Communicator ranks = rank.communicator();
    List<Double> losses = new ArrayList<>();
    List<CoverageReceipt> receipts = new ArrayList<>();
    RowSubset test = rank.columns().where("is_test");
    RowSubset others = test.complement(rank.rows().rows());
    int[] kinds = rank.columns().classes("kind").labels();
    BatchSampler balanced =
        Samplers.classBalanced(42, kinds)
            .withReplacement(others.size()) // rare kinds come again and again
            .within(others)
            .globalBatchSize(BATCH);
    BatchSampler all = Samplers.sequential().within(test).globalBatchSize(BATCH).everySample();
    try (Model model = network();
        Trainer trainer = model.newTrainer(Train.training(Loss.softmaxCrossEntropyLoss()));
        Loader training = rank.loader(balanced, DENSE);
        Loader testing = rank.loader(all, DENSE)) {
      trainer.initialize(new Shape(1, GENES));
      for (int epoch = 0; epoch < epochs; epoch++) {
        for (LoadedBatch batch : training.epoch(epoch)) {
          try (NDManager memory = trainer.getManager().newSubManager();
              GradientCollector gradients = trainer.newGradientCollector()) {
            NDArray share = Factor.of(memory, batch.share());
            gradients.backward(loss(trainer, batch, memory, kinds).mul(share));
            Train.sumGradients(trainer, ranks);
            trainer.step();
          }
        }
        double[] loss = {0, 0};
        for (LoadedBatch batch : testing.epoch(epoch)) {
          try (NDManager memory = trainer.getManager().newSubManager()) {
            loss[0] += batch.samples() * lossOrZero(trainer, batch, memory, kinds);
            loss[1] += batch.samples();
          }
        }
        ranks.allReduce(loss, ReduceOp.SUM);
        losses.add(loss[0] / loss[1]);
        receipts.add(testing.receipt(ranks));
        lines.epoch(rank.rank(), epoch + 1, Trained.result(loss[0] / loss[1], receipts.get(epoch)));
      }
      return Trained.of(rank.rank(), losses, receipts, Train.hashes(model, ranks));
    }
  }

  private static Model network() {
    Model model = Model.newInstance("cells", Device.cpu());
    model.setBlock(
        new SequentialBlock()
            .add(Blocks.batchFlattenBlock(GENES))
            .add(Linear.builder().setUnits(32).build())
            .add(Activation::relu)
            .add(Linear.builder().setUnits(4).build()));
    return model;
  }

  /** Returns the mean loss of a batch of dense rows; their labels are those of their rows. */
  private static NDArray loss(Trainer trainer, LoadedBatch batch, NDManager memory, int... kinds) {
    float[] labels = new float[batch.samples()];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = kinds[(int) batch.row(i)];
    }
    NDList scores = trainer.forward(new NDList(Train.view(batch.field("counts"), memory)));
    return trainer.getLoss().evaluate(new NDList(memory.create(labels)), scores);
  }

  /** Returns the mean loss; 0 for a rank that has no part of a last batch. */
  private static float lossOrZero(
      Trainer trainer, LoadedBatch batch, NDManager memory, int... kinds) {
    return batch.samples() == 0 ? 0 : loss(trainer, batch, memory, kinds).getFloat();
  }
}
