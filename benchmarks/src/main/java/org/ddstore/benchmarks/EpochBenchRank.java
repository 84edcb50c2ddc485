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
import org.ddstore.collective.Communicator;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.transport.Transport;

/** The work of a rank of {@link EpochBench}: every rank holds rows and reads. */
record EpochBenchRank(EpochPlan plan) implements RankWork {
  private static final long serialVersionUID = 1L;

  @Override
  public RankNetwork network() {
    return plan.network();
  }

  @Override
  public void run(Communicator ranks, OpenTransport remote, Consumer<Serializable> results)
      throws Exception {
    for (int rowBytes : plan.rowBytes()) {
      List<EpochTime> times =
          new EpochBenchRank(plan.ofSize(rowBytes)).run(rowBytes, ranks, remote.transport());
      if (ranks.rank() == 0) {
        times.forEach(results);
      }
    }
  }

  private List<EpochTime> run(int rowBytes, Communicator ranks, Transport transport)
      throws Exception {
    PatternRows pattern = new PatternRows(rowBytes);
    StoreOptions options = plan.network().storeOptions();
    try (DDStore store = DDStore.open(ranks, transport, options)) {
      ShardWriter writer = ShardWriter.create(pattern.schema(), options);
      int first = plan.firstRow(ranks.rank());
      pattern.write(first, plan.firstRow(ranks.rank() + 1) - first, writer);
      Variable rows = store.add("rows", writer);
      write(ranks.rank(), pattern, rowBytes);
      ranks.awaitAll("rows written", RankJvm.PATIENCE);
      List<EpochTime> times = measure(rows, ranks, pattern, rowBytes);
      ranks.awaitAll("measured", RankJvm.PATIENCE);
      return times;
    }
  }

  private void write(int rank, PatternRows pattern, int rowBytes) throws IOException {
    if (plan.ways().contains(EpochWay.MAPPED)) {
      MappedEpochs.write(plan, rank, pattern, rowBytes);
    }
    if (plan.ways().contains(EpochWay.FILES)) {
      FileEpochs.write(plan, rank, pattern, rowBytes);
    }
  }

  private List<EpochTime> measure(
      Variable rows, Communicator ranks, PatternRows pattern, int rowBytes) throws IOException {
    List<EpochReader> readers = new ArrayList<>();
    try {
      for (EpochWay way : plan.ways()) {
        readers.add(open(way, rows, ranks, rowBytes));
      }
      return new EpochMeasurement(plan, ranks, pattern, rowBytes).run(readers);
    } finally {
      for (EpochReader reader : readers) {
        reader.close();
      }
    }
  }

  private EpochReader open(EpochWay way, Variable rows, Communicator ranks, int rowBytes)
      throws IOException {
    return switch (way) {
      case GATHER -> new GatherEpochs(plan, ranks.rank(), rows);
      case LOADER -> new LoaderEpochs(plan, ranks, rows, LoaderOptions.defaults());
      case MAPPED -> new MappedEpochs(plan, ranks.rank(), rowBytes);
      case FILES -> new FileEpochs(plan, ranks.rank(), rowBytes);
      case PARQUET -> throw new IllegalArgumentException("read by Spark, not by ranks");
    };
  }
}
