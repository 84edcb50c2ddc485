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
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Interruption;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import picocli.CommandLine;

/**
 * A training on graphs of different size: a network of the two ends of an edge learns the energy of
 * a graph, which is a sum over its edges. Batches have similar cost, which is a column of the
 * store. Run by {@code ./ddstore example graph} or by spark-submit.
 */
public final class Graph {
  private static final int MAX_COST = 256; // nodes and edges
  private static final int BATCHES_PER_STEP = 4; // whatever the number of ranks
  private static final int WIDTH = 16;

  private Graph() {}

  /** Exits with 0 if the training is sound, 1 if not, 2 if an argument is illegal. */
  public static void main(String[] arguments) {
    Interruption.exitAfter(() -> command().execute(arguments));
  }

  static CommandLine command() {
    String description =
        "Trains a network on the energies of graphs with 4 to 20 nodes, in batches of similar"
            + " cost, on two executors.";
    return TrainingCommand.parser("graph", description, 4000, 500, Graph::train);
  }

  private static List<Trained> train(
      EmbeddedSpark spark, long rows, int epochs, EpochLines.Reporter lines) {
    return DDStores.from(graphs(spark.session(), rows))
        .ranks(Train.RANKS)
        .run(rank -> train(rank, epochs, lines));
  }

  /** Returns graphs: a charge per node, the nodes of each edge, the energy, and the cost. */
  static Dataset<Row> graphs(SparkSession spark, long rows) {
    return spark
        .range(rows)
        .selectExpr("id", "4 + pmod(hash(id), 17) as n")
        .selectExpr("id", "n", "n + pmod(hash(id, 1), 2 * n) as edges")
        .selectExpr(
            "transform(sequence(1, n), i -> float(pmod(hash(id, i), 1000) / 500 - 1)) as charge",
            "transform(sequence(1, edges), e -> pmod(hash(id, e, 2), n)) as source",
            "transform(sequence(1, edges), e -> pmod(hash(id, e, 3), n)) as target",
            "n + edges as cost")
        .selectExpr(
            "*", "zip_with(source, target, (s, t) -> double(charge[s] * charge[t])) as bonds")
        .selectExpr("*", "float(aggregate(bonds, 0D, (sum, bond) -> sum + bond)) as energy")
        .drop("bonds");
  }

  private static Trained train(RankContext rank, int epochs, EpochLines.Reporter lines) {
    Engine.getInstance().setRandomSeed(7); // all ranks start with the same parameters
    long[] costs = rank.columns().costs("cost");
    try (Model model = network();
        Trainer trainer = model.newTrainer(Train.training(Loss.l2Loss()));
        Loader loader =
            rank.loader(Samplers.costAware(42, MAX_COST, costs).batchesPerStep(BATCHES_PER_STEP))) {
      trainer.initialize(new Shape(1, 2));
      return Train.train(rank, epochs, lines, trainer, loader, Graph::step);
    }
  }

  /** A network of the charges at the two ends of an edge: its part of the energy. */
  private static Model network() {
    Model model = Model.newInstance("graphs", Device.cpu());
    model.setBlock(
        new SequentialBlock()
            .add(Blocks.batchFlattenBlock(2))
            .add(Linear.builder().setUnits(WIDTH).build())
            .add(Activation::tanh)
            .add(Linear.builder().setUnits(WIDTH).build())
            .add(Activation::tanh)
            .add(Linear.builder().setUnits(1).build()));
    return model;
  }

  private static float step(Trainer trainer, LoadedBatch batch, Communicator ranks) {
    try (NDManager memory = trainer.getManager().newSubManager();
        GradientCollector gradients = trainer.newGradientCollector()) {
      NDArray bonds = trainer.forward(new NDList(ends(batch, memory))).singletonOrThrow();
      NDArray energies = edgesOfGraphs(batch, memory).matMul(bonds);
      NDArray wanted =
          batch.samples() == 0 // a step can have fewer packed batches than ranks
              ? memory.zeros(new Shape(1, 1))
              : Train.view(batch.field("energy"), memory).reshape(-1, 1);
      NDArray errors = wanted.sub(energies); // and not Loss.l2Loss(): see Factor
      NDArray loss = errors.mul(errors).mean().mul(Factor.of(memory, batch.share() / 2));
      gradients.backward(loss);
      Train.sumGradients(trainer, ranks);
      trainer.step();
      return loss.getFloat();
    }
  }

  /** Returns the charges at both ends of each edge: {@code [edges, 2]}. */
  private static NDArray ends(LoadedBatch batch, NDManager memory) {
    Tensor edges = batch.offsets("source");
    Tensor nodes = batch.offsets("charge");
    int count = (int) edges.getLong(batch.samples());
    float[] ends = new float[2 * Math.max(1, count)];
    for (int graph = 0; graph < batch.samples(); graph++) {
      for (long e = edges.getLong(graph); e < edges.getLong(graph + 1L); e++) {
        long source = nodes.getLong(graph) + batch.field("source").getLong(e);
        long target = nodes.getLong(graph) + batch.field("target").getLong(e);
        ends[(int) (2 * e)] = batch.field("charge").getFloat(source);
        ends[(int) (2 * e + 1)] = batch.field("charge").getFloat(target);
      }
    }
    return memory.create(ends, new Shape(ends.length / 2, 2));
  }

  /** Returns a matrix that sums edges by graph: {@code [graphs, edges]}, 1 where they belong. */
  private static NDArray edgesOfGraphs(LoadedBatch batch, NDManager memory) {
    Tensor edges = batch.offsets("source");
    int count = (int) Math.max(1, edges.getLong(batch.samples()));
    float[] belongs = new float[Math.max(1, batch.samples()) * count];
    for (int graph = 0; graph < batch.samples(); graph++) {
      for (long e = edges.getLong(graph); e < edges.getLong(graph + 1L); e++) {
        belongs[(int) (graph * (long) count + e)] = 1;
      }
    }
    return memory.create(belongs, new Shape(belongs.length / count, count));
  }
}
