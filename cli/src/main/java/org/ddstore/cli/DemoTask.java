// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.cli.RankReadings.Speed;
import org.ddstore.cli.RankReadings.Summary;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.RankTask;
import org.ddstore.spark.StoreSpec;

/**
 * The work of every rank of the demo: reads rows of all ranks in a random order, compares each with
 * the result of Spark SQL, then times further reads.
 *
 * @param expected rows returned by Spark SQL
 * @param leaves columns of the rows
 * @param batchRows maximum number of rows read in one call
 * @param seed seed of the read order
 * @param speedNanos total duration in nanoseconds of the timed reads; the ranks take turns
 */
record DemoTask(
    ExpectedRows.Sent expected, List<Leaf> leaves, int batchRows, long seed, long speedNanos)
    implements RankTask<RankReadings> {
  private static final int SINGLE_ROWS = 5000;
  private static final long BATCH_BYTES = 64L << 20;
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(20);

  /**
   * Loads, reads and compares the rows, then times reads. The parameters are those of this record.
   */
  static DemoResult run(
      StoreSpec spec,
      ExpectedRows expected,
      List<Leaf> leaves,
      int batchRows,
      long seed,
      long speedNanos) {
    ExpectedRows.Sent sent = expected.send();
    try {
      return new DemoResult(
          expected.rows(), spec.run(new DemoTask(sent, leaves, batchRows, seed, speedNanos)));
    } finally {
      sent.destroy();
    }
  }

  @Override
  public RankReadings run(RankContext context) {
    ExpectedRows rows = expected.value();
    Summary info = Summary.of(context.store().info());
    long meanBytes = info.rows() == 0 ? 1 : Math.max(1, info.bytes() / info.rows());
    int batch = (int) Math.max(1, Math.min(batchRows, BATCH_BYTES / meanBytes));
    try (Reader reader = context.rows().reader();
        RowChecker checker = new RowChecker(reader, rows, leaves)) {
      checkBatches(context, checker, rows.size(), batch);
      checkSingles(context, checker, rows.size());
      List<Long> rowsByPath =
          context.store().statistics().stream().map(ReadStatistics::rows).toList();
      Speed single = Speed.NONE;
      Speed batches = Speed.NONE;
      long turnNanos = Math.max(1, speedNanos / context.ranks() / 2);
      for (int turn = 0; turn < context.ranks(); turn++) {
        context.communicator().barrier();
        if (turn == context.rank() && info.rows() > 0) {
          single = time(reader, info.rows(), 1, turnNanos);
          batches = time(reader, info.rows(), batch, turnNanos);
        }
      }
      context.communicator().barrier();
      return new RankReadings(
          context.rank(),
          context.executorId(),
          context.loadNanos(),
          info,
          context.store().digest(RankContext.ROWS),
          checker.rowsRead(),
          checker.mismatches(),
          checker.firstMismatch(),
          new ArrayList<>(rowsByPath),
          single,
          batches);
    }
  }

  /** Checks this rank's part of the expected rows; all ranks together read every row once. */
  private void checkBatches(RankContext context, RowChecker checker, int rows, int batch) {
    int[] order = RowChecker.shuffled(rows, seed);
    int first = (int) ((long) rows * context.rank() / context.ranks());
    int end = (int) ((long) rows * (context.rank() + 1) / context.ranks());
    long start = System.nanoTime();
    for (int from = first; from < end && !isOver(start); from += batch) {
      checker.check(order, from, Math.min(end, from + batch));
    }
  }

  private void checkSingles(RankContext context, RowChecker checker, int rows) {
    SplittableRandom random = new SplittableRandom(seed + 1 + context.rank());
    int[] number = new int[1];
    long start = System.nanoTime();
    for (int i = 0; i < Math.min(SINGLE_ROWS, rows) && !isOver(start); i++) {
      number[0] = random.nextInt(rows);
      checker.check(number, 0, 1);
    }
  }

  private static boolean isOver(long start) {
    return System.nanoTime() - start > CHECK_NANOS;
  }

  /** Reads random rows for about {@code limitNanos}; drawing the indices is not timed. */
  private Speed time(Reader reader, long rows, int batchRows, long limitNanos) {
    SplittableRandom random = new SplittableRandom(seed);
    long[][] draws = new long[Math.max(1, 4096 / batchRows)][batchRows];
    long nanos = 0;
    long read = 0;
    try (Batch batch = reader.getBatch()) {
      while (nanos < limitNanos) {
        for (long[] draw : draws) {
          Arrays.setAll(draw, i -> random.nextLong(rows));
        }
        long start = System.nanoTime();
        for (long[] draw : draws) {
          reader.getBatch(batch, draw);
        }
        nanos += System.nanoTime() - start;
        read += (long) draws.length * batchRows;
      }
    }
    return new Speed(read, nanos);
  }
}
