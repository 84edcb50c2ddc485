// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.time.Duration;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.ReadStatistics;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.ReduceOp;
import org.ddstore.mpirun.MpiRun;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The demo program of ORNL's DDStore for Python, in Java: ranks started by mpirun, without Spark.
 * Each rank adds its shard and reads rows of all shards by global index.
 *
 * <pre>mpirun -n 4 java -cp .. org.ddstore.examples.Readme --num 65536 --dim 64 --nbatch 32</pre>
 */
@Command(
    name = "ddstore example readme",
    description = {
      "Runs ranks under mpirun, without Spark: each adds a shard of float64 rows, then reads random"
          + " rows of all shards by global index and compares every value.",
      "Exits with 0 if all values are correct."
    },
    footer = {
      "Only with ./ddstore:",
      "      --ranks N       Number of processes started by mpirun; 4 by default."
    })
public final class Readme implements Callable<Integer> {
  private static final String FEATURES = "features";
  private static final int BATCH = 64;
  private static final int MAX_NUMBERS = 1 << 27; // per shard: 1 GiB
  private static final int MAX_BATCHES = 1_000_000;

  @Option(
      names = "--num",
      paramLabel = "N",
      description = "Number of rows per rank; ${DEFAULT-VALUE} by default.")
  int num = 65_536;

  @Option(
      names = "--dim",
      paramLabel = "N",
      description = "Number of float64 values per row; ${DEFAULT-VALUE} by default.")
  int dim = 64;

  @Option(
      names = "--nbatch",
      paramLabel = "N",
      description =
          "Number of batches of 64 rows that each rank reads; ${DEFAULT-VALUE} by default.")
  int nbatch = 32;

  @Option(names = "--no-shortcut", description = "Read rows of the same host by MPI as well.")
  boolean noShortcut;

  @Spec private CommandSpec command;

  /** Exits with 0 if all rows are correct, 1 if not, 2 if an argument is illegal. */
  public static void main(String[] arguments) {
    System.exit(ExampleArguments.parserWithoutSpark(new Readme()).execute(arguments));
  }

  /**
   * Checks the values of all options.
   *
   * @throws ParameterException naming the option, its value and its range
   */
  void checkRanges() {
    ExampleArguments.checkRange(command, "--num", num, 1, MAX_NUMBERS);
    ExampleArguments.checkRange(command, "--dim", dim, 1, MAX_NUMBERS);
    ExampleArguments.checkRange(command, "--nbatch", nbatch, 0, MAX_BATCHES);
    if ((long) num * dim > MAX_NUMBERS) {
      throw new ParameterException(
          command.commandLine(),
          "--num %d times --dim %d exceeds %d values per rank: lower one of them"
              .formatted(num, dim, MAX_NUMBERS));
    }
  }

  @Override
  public Integer call() {
    checkRanges();
    return MpiRun.run(Duration.ofMinutes(1), this::run);
  }

  private void run(MpiRun ranks) {
    StoreOptions storeOptions = StoreOptions.defaults().shortcut(!noShortcut);
    try (DDStore store = ranks.open(storeOptions)) { // collective, like all calls but reads
      double[] features = new double[num * dim];
      for (int i = 0; i < features.length; i++) {
        features[i] = (double) ranks.rank() * num * dim + i;
      }
      store.add(FEATURES, Tensor.wrap(features, num, dim));

      long wrong = 0;
      Random random = new Random(ranks.rank());
      Tensor row = Tensor.wrap(new double[dim], 1, dim);
      store.epochBegin();
      for (int turn = 0; turn < nbatch; turn++) {
        long[] indices = random.longs(BATCH, 0, (long) ranks.ranks() * num).toArray();
        store.get(FEATURES, row, indices[0]); // one row or several consecutive rows
        wrong += wrongNumbers(row, dim, indices[0]);
        try (Batch batch = store.getBatch(FEATURES, indices)) { // any rows, in any order
          wrong += wrongNumbers(batch.field(FEATURES), dim, indices);
        }
      }
      store.epochEnd();
      report(ranks, store, wrong);
    }
  }

  /** Returns the number of wrong values; each value equals its position in the store. */
  private static long wrongNumbers(Tensor rows, int dim, long... indices) {
    long wrong = 0;
    for (int r = 0; r < indices.length; r++) {
      for (int c = 0; c < dim; c++) {
        if (rows.getDouble((long) r * dim + c) != (double) indices[r] * dim + c) {
          wrong++;
        }
      }
    }
    return wrong;
  }

  private static void report(MpiRun ranks, DDStore store, long wrong) {
    long[] sums = new long[1 + ReadPath.values().length];
    sums[0] = wrong;
    for (ReadPath path : ReadPath.values()) {
      ReadStatistics read = store.statistics().get(path.index());
      sums[1 + path.index()] = read.rows();
    }
    ranks.communicator().allReduce(sums, ReduceOp.SUM);
    if (ranks.rank() == 0) {
      System.out.printf(
          Locale.ROOT,
          "%s, %s; rows read: %,d of the own process, %,d of the same host, %,d by MPI; %d numbers wrong%n",
          Plural.of(ranks.ranks(), "rank"),
          store.variable(FEATURES),
          sums[1],
          sums[2],
          sums[3],
          sums[0]);
    }
    if (sums[0] != 0) {
      throw new IllegalStateException(sums[0] + " numbers are wrong");
    }
  }
}
