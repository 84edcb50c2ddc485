// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.commons.math3.stat.descriptive.rank.Median;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.driver.RankWork;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.checkpoint.Saving;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.sampling.Delivery;
import org.ddstore.sampling.EpochState;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.transport.TransportProviders;

/**
 * The work of a rank of {@link CheckpointBench}: the ways take turns.
 *
 * @param parameters number of parameters of the model; a checkpoint has three floats for each
 * @param stepMillis time of the computation of a step
 * @param stepCount steps per checkpoint
 * @param rounds measured rounds
 * @param directory directory of the checkpoints
 */
record CheckpointBenchRank(
    int rankCount, int parameters, double stepMillis, int stepCount, int rounds, String directory)
    implements RankWork {
  private static final long serialVersionUID = 1L;
  private static final String STREAM = "model";

  @Override
  public RankNetwork network() {
    return new RankNetwork(rankCount, TransportProviders.AUTO, true, false);
  }

  @Override
  public void run(Communicator ranks, OpenTransport remote, Consumer<Serializable> results)
      throws Exception {
    TrainingStep step = new TrainingStep(ranks, parameters);
    step.calibrate(stepMillis);
    List<Way> ways = new ArrayList<>();
    try {
      ways.add(new Way("none", null));
      for (Saving saving : Saving.values()) {
        String name = saving.name().toLowerCase(Locale.ROOT);
        ways.add(
            new Way(
                name,
                Checkpoints.open(
                    CheckpointStorage.local(Path.of(directory, name)),
                    ranks,
                    CheckpointOptions.defaults().saving(saving))));
      }
      for (int round = 0; round <= rounds; round++) { // the first one warms up
        for (Way way : ways) {
          way.measure(ranks, step, stepCount);
        }
      }
      for (Way way : ways) {
        CheckpointBench.Time time = way.time(ways.get(0), step);
        if (ranks.rank() == 0) {
          results.accept(time);
        }
      }
    } finally {
      for (Way way : ways) {
        way.close();
      }
    }
  }

  /** A way to train, with its times. */
  private static final class Way implements AutoCloseable {
    private final String name;
    private final Checkpoints checkpoints; // null to save none
    private final List<Double> stepMillis = new ArrayList<>();
    private final List<Double> saveMillis = new ArrayList<>();
    private long number;

    Way(String name, Checkpoints checkpoints) {
      this.name = name;
      this.checkpoints = checkpoints;
    }

    /** Trains with one checkpoint, which is published within the measured time. */
    void measure(Communicator ranks, TrainingStep step, int steps) {
      ranks.barrier();
      long start = System.nanoTime();
      step.run();
      double saved = 0;
      if (checkpoints != null) {
        long before = System.nanoTime();
        checkpoints.save(state(++number), STREAM, step::write);
        saved = millis(System.nanoTime() - before);
      }
      for (int i = 1; i < steps; i++) {
        step.run();
      }
      if (checkpoints != null) {
        checkpoints.await();
      }
      double[] slowest = {millis(System.nanoTime() - start) / steps, saved};
      ranks.allReduce(slowest, ReduceOp.MAX);
      stepMillis.add(slowest[0]);
      saveMillis.add(slowest[1]);
    }

    private static EpochState state(long batch) {
      return new EpochState(0, batch, Integer.MAX_VALUE, 0, "steps", "0", "", Delivery.PLAIN);
    }

    private static double millis(long nanos) {
      return (double) nanos / TimeUnit.MILLISECONDS.toNanos(1);
    }

    /** Returns the times without the first round. Collective. */
    CheckpointBench.Time time(Way none, TrainingStep step) throws IOException {
      double[] ratios = new double[stepMillis.size() - 1];
      for (int round = 1; round < stepMillis.size(); round++) {
        ratios[round - 1] = stepMillis.get(round) / none.stepMillis.get(round);
      }
      return new CheckpointBench.Time(
          name,
          median(stepMillis),
          median(saveMillis),
          new Median().evaluate(ratios),
          checkpoints == null ? 0 : mismatches(step));
    }

    private static double median(List<Double> values) {
      return new Median()
          .evaluate(values.stream().skip(1).mapToDouble(Double::doubleValue).toArray());
    }

    /** Saves the model once more, and compares the checkpoint with it. */
    private long mismatches(TrainingStep step) throws IOException {
      checkpoints.save(state(++number), STREAM, step::write);
      byte[] saved = checkpoints.latest().orElseThrow().bytes(STREAM);
      ByteArrayOutputStream expected = new ByteArrayOutputStream(saved.length);
      step.write(expected);
      byte[] written = expected.toByteArray();
      long mismatches = Math.abs(saved.length - written.length);
      for (int i = 0; i < Math.min(saved.length, written.length); i++) {
        mismatches += saved[i] == written[i] ? 0 : 1;
      }
      return mismatches;
    }

    @Override
    public void close() {
      if (checkpoints != null) {
        checkpoints.close();
      }
    }
  }
}
