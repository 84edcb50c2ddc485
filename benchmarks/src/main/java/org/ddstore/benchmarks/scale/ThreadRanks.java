// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.spark.job.StartExchange;
import org.ddstore.spark.job.StartMessage;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.Backing;

/**
 * A start in full: ranks that are threads of this JVM, each with a network endpoint of its own, so
 * that lanes and rows of all others come over TCP as from other processes.
 */
final class ThreadRanks implements AutoCloseable {
  static final String MESSAGES = "all ranks: start messages";
  static final String CONNECT = "all ranks: connections and lanes";
  static final String CONNECTION = "processor time of a connection";
  static final String STORE = "all ranks: store and catalog";
  static final String BARRIER = "all ranks: barrier";
  static final String MESSAGE = "processor time of a message of a collective";
  static final String BATCH = "all ranks: sampler and first batch";

  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int RANK_ROWS = 256;
  private static final int BATCH_ROWS = 64;
  private static final int BARRIERS = 20;

  private final int ranks;
  private final ExecutorService threads;
  private final List<WireSession> sessions = new ArrayList<>();
  private final List<Communicator> groups = new ArrayList<>();
  private final List<DDStore> stores = new ArrayList<>();

  private ThreadRanks(int ranks) {
    this.ranks = ranks;
    this.threads = Executors.newFixedThreadPool(ranks);
  }

  /** Runs a start of at least two ranks and adds its parts. */
  static void measure(Parts parts) throws Exception {
    try (ThreadRanks ranks = new ThreadRanks(parts.ranks())) {
      ranks.run(parts);
    }
  }

  private void run(Parts parts) throws Exception {
    StoreToken token = StoreToken.random();
    WireOptions options = WireOptions.of(new SparkConf(false), null, "127.0.0.1");
    List<GroupEndpoint> endpoints = new ArrayList<>();
    long start = System.nanoTime();
    byte[][] messages = new byte[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      sessions.add(Wire.joinAlone(token, options));
      endpoints.add(GroupEndpoint.create(sessions.get(rank).lanes(null, false), rank, ranks));
      messages[rank] = new StartMessage(new byte[0], endpoints.get(rank).address()).encode();
    }
    byte[] all = StartExchange.pack(messages);
    parts.add(MESSAGES, Parts.SECONDS, seconds(start));
    start = System.nanoTime();
    long cpu = cpuNanos();
    groups.addAll(
        onAll(
            rank -> {
              List<byte[]> addresses =
                  StartExchange.unpack(all).stream()
                      .map(message -> StartMessage.decode(message).endpoint())
                      .toList();
              return endpoints.get(rank).connect(addresses, PATIENCE);
            }));
    long connections = (long) ranks * (ranks - 1) / 2;
    parts.add(CONNECT, Parts.SECONDS, seconds(start));
    parts.add(CONNECTION, Parts.SECONDS, (cpuNanos() - cpu) / 1e9 / connections);
    start = System.nanoTime();
    stores.addAll(onAll(this::open));
    parts.add(STORE, Parts.SECONDS, seconds(start));
    barriers(parts);
    start = System.nanoTime();
    long wrong = onAll(this::firstBatch).stream().mapToLong(Long::longValue).sum();
    parts.addChecked(BATCH, Parts.SECONDS, wrong, seconds(start));
  }

  private DDStore open(int rank) {
    StoreOptions options = StoreOptions.defaults().backing(Backing.DIRECT).shortcut(false);
    DDStore store = DDStore.open(groups.get(rank), sessions.get(rank), options);
    long[] rows = new long[RANK_ROWS * SimulatedCluster.ROW_LONGS];
    Arrays.setAll(
        rows,
        i ->
            (long) rank * RANK_ROWS
                + i / SimulatedCluster.ROW_LONGS
                + i % SimulatedCluster.ROW_LONGS);
    store.add(SimulatedCluster.FIELD, Tensor.wrap(rows, RANK_ROWS, SimulatedCluster.ROW_LONGS));
    return store;
  }

  private void barriers(Parts parts) throws Exception {
    List<long[]> nanos =
        onAll(
            rank -> {
              long[] each = new long[BARRIERS];
              for (int i = 0; i < BARRIERS; i++) {
                long start = System.nanoTime();
                groups.get(rank).barrier();
                each[i] = System.nanoTime() - start;
              }
              return each;
            });
    long cpu = cpuNanos();
    onAll(
        rank -> {
          for (int i = 0; i < BARRIERS; i++) {
            groups.get(rank).barrier();
          }
          return rank;
        });
    long messages = (long) BARRIERS * ranks * (ranks - 1);
    parts.add(
        BARRIER, Parts.SECONDS, Arrays.stream(nanos.get(0)).mapToDouble(n -> n / 1e9).toArray());
    parts.add(MESSAGE, Parts.SECONDS, (cpuNanos() - cpu) / 1e9 / messages);
  }

  /** Reads the first batch of a rank and returns the number of wrong values. */
  private long firstBatch(int rank) {
    long[] samples = new long[BATCH_ROWS];
    Samplers.shuffled(1)
        .batchSize(BATCH_ROWS)
        .epoch((long) ranks * RANK_ROWS, new WorldRank(rank, ranks), 0)
        .fill(0, samples);
    try (Reader reader = stores.get(rank).variable(SimulatedCluster.FIELD).reader();
        Batch batch = reader.getBatch(samples)) {
      return SimulatedCluster.wrongValues(
          batch.field(SimulatedCluster.FIELD).asByteBuffer(), samples);
    }
  }

  /** The work of one rank. */
  private interface RankWork<T> {
    T run(int rank) throws Exception;
  }

  private <T> List<T> onAll(RankWork<T> work) throws Exception {
    List<Callable<T>> calls =
        IntStream.range(0, ranks).<Callable<T>>mapToObj(rank -> () -> work.run(rank)).toList();
    List<T> results = new ArrayList<>();
    for (Future<T> result : threads.invokeAll(calls, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
      results.add(result.get());
    }
    return results;
  }

  private static double seconds(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  @Override
  public void close() {
    stores.forEach(DDStore::close);
    groups.forEach(Communicator::close);
    sessions.forEach(WireSession::close);
    threads.shutdownNow();
  }
}
