// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;
import java.util.List;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;

/**
 * The plan of {@link EpochBench}; sent to the ranks and to Spark's executors.
 *
 * @param batch number of rows in a batch of one rank
 * @param rows total number of rows; 0 to derive it from {@code storeBytes}, see {@link #ofSize}
 * @param storeBytes total size of the rows in bytes
 * @param sampler one of {@link #SAMPLERS}
 * @param ways ways that the ranks measure, including the raw gather
 * @param directory directory of the files of the alternatives, shared by all ranks
 * @param seconds total duration of the rounds of one way, in seconds
 */
record EpochPlan(
    List<Integer> rowBytes,
    int batch,
    RankNetwork network,
    int rows,
    long storeBytes,
    String sampler,
    List<EpochWay> ways,
    String directory,
    double seconds,
    int rounds)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  static final int MOST_ROWS = 1 << 26;
  static final List<String> SAMPLERS = List.of("shuffled", "chunked", "sequential");

  private static final long SEED = 42;
  private static final int BLOCK_ROWS = 64;

  int ranks() {
    return network.ranks();
  }

  /** Returns the sampler; the window of {@code chunked} has one block per row of a global batch. */
  BatchSampler batches() {
    Sampler named =
        switch (sampler) {
          case "shuffled" -> Samplers.shuffled(SEED);
          case "chunked" -> Samplers.chunked(SEED, BLOCK_ROWS, batch * ranks());
          case "sequential" -> Samplers.sequential();
          default ->
              throw new IllegalArgumentException(
                  "sampler \"%s\": unknown value; legal values: %s".formatted(sampler, SAMPLERS));
        };
    return named.batchSize(batch);
  }

  /** Returns this plan for one row size, with the number of rows. */
  EpochPlan ofSize(int bytes) {
    int number = rows > 0 ? rows : (int) Math.min(MOST_ROWS, storeBytes / bytes);
    return new EpochPlan(
        List.of(bytes),
        batch,
        network,
        number,
        storeBytes,
        sampler,
        ways,
        directory,
        seconds,
        rounds);
  }

  WorldRank place(int rank) {
    return new WorldRank(rank, ranks());
  }

  /** Returns the number of batches of a rank in an epoch. */
  long steps() {
    return rows / ((long) batch * ranks());
  }

  /** Returns the number of rows that all ranks together receive in an epoch. */
  long epochRows() {
    return steps() * batch * ranks();
  }

  /** Returns the rows of each batch of a rank, in order. */
  long[][] order(int rank, long epoch) {
    EpochBatches planned = batches().epoch(rows, place(rank), epoch);
    long[][] order = new long[(int) planned.batches()][batch];
    for (int b = 0; b < order.length; b++) {
      planned.fill(b, order[b]);
    }
    return order;
  }

  /** Returns the first row of a rank's shard, which is the end of the previous rank's shard. */
  int firstRow(int rank) {
    return (int) ((long) rows * rank / ranks());
  }
}
