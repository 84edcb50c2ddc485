// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;

/**
 * A measurement of several ways of reading epochs. The ways take turns, so that a disturbance of
 * the machine affects all of them. First each way reads an epoch in which every row is checked,
 * then further epochs without timing as warm-up. Collective: all ranks measure together, and the
 * slowest rank counts.
 */
final class EpochMeasurement {
  /**
   * Warm-up as a fraction of a measurement's duration. At the default of 2 s the JIT compilers have
   * finished by then: for the first 2 to 3 s they occupy one of the loader's processors.
   */
  private static final double WARM_UP = 1.5;

  private final EpochPlan plan;
  private final Communicator ranks;
  private final PatternRows pattern;
  private long epoch;

  EpochMeasurement(EpochPlan plan, Communicator ranks, PatternRows pattern) {
    this.plan = plan;
    this.ranks = ranks;
    this.pattern = pattern;
  }

  /** Returns the results in the order of the readers, of which the first is the raw gather. */
  List<EpochResult> run(List<EpochReader> readers) throws IOException {
    List<long[]> mismatches = new ArrayList<>();
    List<Double> spent = new ArrayList<>();
    for (EpochReader reader : readers) {
      mismatches.add(new long[] {compare(reader)});
      spent.add(0.0);
      round(reader, WARM_UP * plan.seconds());
    }
    List<DescriptiveStatistics> seconds = new ArrayList<>();
    readers.forEach(reader -> seconds.add(new DescriptiveStatistics()));
    for (int round = 0; round < plan.rounds(); round++) {
      for (int way = 0; way < readers.size(); way++) {
        if (spent.get(way) >= plan.seconds()) {
          continue; // so slow that its epochs have used up the time of all rounds
        }
        double minSeconds = plan.seconds() / plan.rounds();
        double epochSeconds = round(readers.get(way), minSeconds);
        spent.set(way, spent.get(way) + Math.max(epochSeconds, minSeconds));
        seconds.get(way).addValue(epochSeconds);
        mismatches.get(way)[0] += readers.get(way).isExact() ? 0 : 1;
      }
    }
    List<EpochResult> results = new ArrayList<>();
    double gatherMicros = seconds.get(0).getPercentile(50) * 1e6 / plan.epochRows();
    for (int way = 0; way < readers.size(); way++) {
      EpochReader reader = readers.get(way);
      ranks.allReduce(mismatches.get(way), ReduceOp.SUM);
      double epochSeconds = seconds.get(way).getPercentile(50);
      Double waits = waits(reader, epochSeconds);
      results.add(
          EpochResult.of(
              reader.plan,
              reader.way,
              seconds.get(way).getValues(),
              gatherMicros,
              waits,
              mismatches.get(way)[0]));
    }
    return results;
  }

  /**
   * Returns the share of time that a slower consumer waits, maximum over ranks; null if unknown.
   */
  private Double waits(EpochReader reader, double epochSeconds) throws IOException {
    if (reader.waitedNanos().isEmpty()) {
      return null;
    }
    SlowConsumer consumer = new SlowConsumer(reader, reader.plan, epochSeconds);
    int epochs = SlowConsumer.epochs(plan.seconds(), epochSeconds);
    for (int i = 0; i < epochs; i++) {
      reader.prepare(epoch++);
      ranks.barrier();
      consumer.readEpoch();
    }
    double[] longest = {consumer.waits()};
    ranks.allReduce(longest, ReduceOp.MAX);
    return longest[0];
  }

  /** Reads an epoch and returns the number of this rank's wrong or missing rows. */
  private long compare(EpochReader reader) throws IOException {
    long[][] order = reader.plan.order(ranks.rank(), epoch);
    boolean[] received = new boolean[order.length];
    long[] wrong = new long[1];
    reader.prepare(epoch++);
    reader.read(
        (number, rows) -> {
          received[number] = true;
          wrong[0] += mismatches(order[number], rows);
        });
    for (boolean batch : received) {
      wrong[0] += batch ? 0 : plan.batch();
    }
    return wrong[0];
  }

  private long mismatches(long[] expected, ByteBuffer rows) {
    ByteBuffer bytes = rows.order(ByteOrder.LITTLE_ENDIAN);
    long wrong = 0;
    for (int i = 0; i < expected.length; i++) {
      wrong += pattern.matches(expected[i], bytes, i * pattern.rowBytes()) ? 0 : 1;
    }
    return wrong;
  }

  /** Reads epochs for at least {@code minSeconds}, at least one; returns the seconds per epoch. */
  private double round(EpochReader reader, double minSeconds) throws IOException {
    long nanos = 0;
    int epochs = 0;
    long[] slowest = new long[1];
    while (nanos < minSeconds * TimeUnit.SECONDS.toNanos(1)) {
      reader.prepare(epoch++);
      ranks.barrier();
      long start = System.nanoTime();
      reader.read((number, rows) -> {});
      Arrays.fill(slowest, System.nanoTime() - start);
      ranks.allReduce(slowest, ReduceOp.MAX);
      nanos += slowest[0];
      epochs++;
    }
    return (double) nanos / TimeUnit.SECONDS.toNanos(1) / epochs;
  }

  /**
   * A consumer that simulates a training step slower than the reader, and computes the share of
   * time that it waits from the reader's counters. It spins instead of sleeping.
   */
  private static final class SlowConsumer implements EpochReader.Consumer {
    /** Duration of a step, in batches of a consumer that does nothing. */
    private static final int STEP_BATCHES = 4;

    /** Maximum number of first batches that do not count, because prefetching is still starting. */
    private static final int FIRST_BATCHES = 16;

    private final EpochReader reader;
    private final long stepNanos;
    private final long firstBatches;
    private long startNanos;
    private long waitedAtStart;
    private long nanos;
    private long waited;

    /**
     * @param epochSeconds duration of an epoch of a consumer that does nothing, in seconds
     */
    SlowConsumer(EpochReader reader, EpochPlan plan, double epochSeconds) {
      this.reader = reader;
      this.stepNanos = Math.round(epochSeconds * 1e9 / plan.steps() * STEP_BATCHES);
      this.firstBatches = Math.min(FIRST_BATCHES, plan.steps() / 2);
    }

    /** Returns the number of epochs that take {@code seconds}, at least 1. */
    static int epochs(double seconds, double epochSeconds) {
      return (int) Math.max(1, Math.ceil(seconds / (epochSeconds * STEP_BATCHES)));
    }

    void readEpoch() throws IOException {
      reader.read(this);
      nanos += System.nanoTime() - startNanos;
      waited += waitedNanos() - waitedAtStart;
    }

    /** Returns the share of time spent waiting after the first batches of epochs, in [0, 1]. */
    double waits() {
      return (double) waited / nanos;
    }

    private long waitedNanos() {
      return reader.waitedNanos().orElseThrow();
    }

    @Override
    public void take(int number, ByteBuffer rows) {
      long now = System.nanoTime();
      if (number == firstBatches) {
        startNanos = now;
        waitedAtStart = waitedNanos();
      }
      while (System.nanoTime() - now < stepNanos) {
        Thread.onSpinWait();
      }
    }
  }
}
