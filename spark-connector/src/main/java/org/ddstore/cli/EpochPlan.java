package org.ddstore.cli;

import java.io.Serializable;
import java.util.List;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;

/**
 * What {@link EpochBench} is to measure; sent to the ranks and to Spark's executors.
 *
 * @param batch rows of one rank's batch
 * @param rows of all ranks together; 0 for as many as the store's bytes make, see {@link #ofSize}
 * @param storeBytes of all ranks together
 * @param sampler of {@link #SAMPLERS}
 * @param ways of {@link EpochWay}, by name, that ranks measure; the raw gather is one of them
 * @param directory where the files of alternatives lie, one for all ranks
 * @param seconds of all rounds of one way together
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

  /**
   * The sampler by name; a window of {@code chunked} is as many blocks as a global batch has rows.
   */
  BatchSampler batches() {
    Sampler named =
        switch (sampler) {
          case "shuffled" -> Samplers.shuffled(SEED);
          case "chunked" -> Samplers.chunked(SEED, BLOCK_ROWS, batch * ranks());
          case "sequential" -> Samplers.sequential();
          default -> throw new IllegalArgumentException(sampler + ": legal are " + SAMPLERS);
        };
    return named.batchSize(batch);
  }

  /** This plan for rows of one size, with their number. */
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

  /** How many batches a rank has in an epoch. */
  long steps() {
    return rows / ((long) batch * ranks());
  }

  /** Rows that all ranks are given in an epoch. */
  long epochRows() {
    return steps() * batch * ranks();
  }

  /** The rows of each batch of a rank, in order. */
  long[][] order(int rank, long epoch) {
    EpochBatches planned = batches().epoch(rows, place(rank), epoch);
    long[][] order = new long[(int) planned.batches()][batch];
    for (int b = 0; b < order.length; b++) {
      planned.fill(b, order[b]);
    }
    return order;
  }

  /** Where a rank's shard begins, and that of the one before it ends. */
  int firstRow(int rank) {
    return (int) ((long) rows * rank / ranks());
  }
}
