// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.benchmarks.driver.RankJvm;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.driver.RankWork;
import org.ddstore.collective.Communicator;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.transport.Transport;

/**
 * The measurements of {@link EpochBench}: every rank holds rows and reads. Sent to the ranks and to
 * Spark's executors.
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
    implements RankWork {
  private static final long serialVersionUID = 1L;

  static final int MAX_ROWS = 1 << 26;
  static final List<String> SAMPLERS = List.of("shuffled", "chunked", "sequential");

  private static final long SEED = 42;
  private static final int BLOCK_ROWS = 64;

  @Override
  public void run(Communicator ranks, OpenTransport remote, Consumer<Serializable> results)
      throws Exception {
    for (int bytes : rowBytes) {
      List<EpochResult> measured =
          ofSize(bytes).measure(new PatternRows(bytes), ranks, remote.transport());
      if (ranks.rank() == 0) {
        measured.forEach(results);
      }
    }
  }

  private List<EpochResult> measure(PatternRows pattern, Communicator ranks, Transport transport)
      throws Exception {
    int rank = ranks.rank();
    StoreOptions options = network.storeOptions();
    try (DDStore store = DDStore.open(ranks, transport, options)) {
      ShardWriter writer = ShardWriter.create(pattern.schema(), options);
      pattern.write(firstRow(rank), firstRow(rank + 1) - firstRow(rank), writer);
      Variable stored = store.add("rows", writer);
      if (ways.contains(EpochWay.MAPPED)) {
        MappedEpochs.write(this, rank, pattern);
      }
      if (ways.contains(EpochWay.FILES)) {
        FileEpochs.write(this, rank, pattern);
      }
      ranks.awaitAll("rows written", RankJvm.PATIENCE);
      List<EpochReader> readers = new ArrayList<>();
      try {
        for (EpochWay way : ways) {
          readers.add(open(way, stored, ranks, pattern.rowBytes()));
        }
        List<EpochResult> results = new EpochMeasurement(this, ranks, pattern).run(readers);
        ranks.awaitAll("measured", RankJvm.PATIENCE);
        return results;
      } finally {
        for (EpochReader reader : readers) {
          reader.close();
        }
      }
    }
  }

  private EpochReader open(EpochWay way, Variable stored, Communicator ranks, int bytesPerRow)
      throws IOException {
    return switch (way) {
      case GATHER -> new GatherEpochs(this, ranks.rank(), stored);
      case LOADER -> new LoaderEpochs(this, ranks, stored);
      case MAPPED -> new MappedEpochs(this, ranks.rank(), bytesPerRow);
      case FILES -> new FileEpochs(this, ranks.rank(), bytesPerRow);
      case PARQUET, CACHE -> throw new IllegalArgumentException("read by Spark, not by ranks");
    };
  }

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
    return of(List.of(bytes), rows > 0 ? rows : (int) Math.min(MAX_ROWS, storeBytes / bytes));
  }

  /** Returns this plan for at most that many rows, but for a batch of each rank. */
  EpochPlan ofRows(int most) {
    return of(rowBytes, Math.min(rows, Math.max(most, batch * ranks())));
  }

  private EpochPlan of(List<Integer> sizes, int number) {
    return new EpochPlan(
        sizes, batch, network, number, storeBytes, sampler, ways, directory, seconds, rounds);
  }

  WorldRank worldRank(int rank) {
    return new WorldRank(rank, ranks());
  }

  long steps() {
    return rows / ((long) batch * ranks());
  }

  /** Returns the number of rows that all ranks together receive in an epoch. */
  long epochRows() {
    return steps() * batch * ranks();
  }

  /** Returns the rows of each batch of a rank, in order. */
  long[][] order(int rank, long epoch) {
    EpochBatches planned = batches().epoch(rows, worldRank(rank), epoch);
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
