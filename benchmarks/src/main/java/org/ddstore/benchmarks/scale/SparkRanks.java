// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;

/** Real ranks in the executors of Spark: a load, the first batch and an epoch. */
final class SparkRanks {
  static final String START = "job: all but load and training";
  static final String LOAD = "rank: load, slowest";
  static final String FIRST = "rank: first batch, slowest";
  static final String EPOCH = "rank: row of an epoch";

  private static final int FLOATS = 64;
  private static final int BATCH_ROWS = 256;

  private SparkRanks() {}

  /**
   * The times of a rank.
   *
   * @param rows number of rows that the rank has read in its epoch
   * @param wrong number of rows with a wrong value
   */
  private record Times(
      double loadSeconds, double firstSeconds, double epochSeconds, long rows, long wrong)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /**
   * Runs jobs of all parts' ranks, each with a slot, and adds their times.
   *
   * @param rowCount number of rows that are loaded
   * @param jobs number of measured jobs after one that warms up
   */
  static void measure(SparkSession session, long rowCount, int jobs, Parts parts) {
    Dataset<Row> frame =
        session
            .range(rowCount)
            .selectExpr(
                "id", "transform(sequence(1, %d), i -> float(id + i)) as x".formatted(FLOATS));
    double[] start = new double[jobs];
    double[] load = new double[jobs];
    double[] first = new double[jobs];
    double[] epoch = new double[jobs];
    long wrong = 0;
    for (int job = -1; job < jobs; job++) {
      int at = Math.max(0, job);
      long begin = System.nanoTime();
      List<Times> times =
          DDStores.from(frame).ranks(parts.ranks()).checkMemory(false).run(SparkRanks::train);
      double seconds = (System.nanoTime() - begin) / 1e9;
      load[at] = times.stream().mapToDouble(Times::loadSeconds).max().orElseThrow();
      first[at] = times.stream().mapToDouble(Times::firstSeconds).max().orElseThrow();
      double slowest = times.stream().mapToDouble(Times::epochSeconds).max().orElseThrow();
      long read = times.stream().mapToLong(Times::rows).sum();
      epoch[at] = slowest / read;
      start[at] = seconds - load[at] - first[at] - slowest;
      long batches = rowCount / ((long) BATCH_ROWS * parts.ranks());
      wrong += times.stream().mapToLong(Times::wrong).sum();
      wrong += Math.abs(read - batches * BATCH_ROWS * parts.ranks());
    }
    parts.add(START, Parts.SECONDS, start);
    parts.add(LOAD, Parts.SECONDS, load);
    parts.add(FIRST, Parts.SECONDS, first);
    parts.addChecked(EPOCH, Parts.SECONDS, wrong, epoch);
  }

  private static Times train(RankContext rank) {
    long begin = System.nanoTime();
    long rows = 0;
    long wrong = 0;
    double firstSeconds = 0;
    long epochBegin = 0;
    try (Loader loader = rank.loader(Samplers.shuffled(1).batchSize(BATCH_ROWS))) {
      for (LoadedBatch batch : loader.epoch(0)) {
        if (rows == 0) {
          firstSeconds = (System.nanoTime() - begin) / 1e9;
          epochBegin = System.nanoTime();
        }
        ByteBuffer values = batch.field("x").asByteBuffer().order(ByteOrder.nativeOrder());
        for (int i = 0; i < batch.rows(); i++) {
          int last = ((i + 1) * FLOATS - 1) * Float.BYTES;
          wrong += values.getFloat(last) == (float) (batch.row(i) + FLOATS) ? 0 : 1;
        }
        rows += batch.rows();
      }
      wrong += loader.receipt(rank.communicator()).isExact() ? 0 : 1;
    }
    return new Times(
        rank.loadNanos() / 1e9, firstSeconds, (System.nanoTime() - epochBegin) / 1e9, rows, wrong);
  }
}
