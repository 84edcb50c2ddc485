package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.ddstore.Backing;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many requests it takes to read batches of another process. */
@Timeout(120)
class TcpTogetherTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int RANKS = 2;
  private static final int ROWS = 600;
  private static final int ELEMENTS = 10;

  private final StoreToken token = StoreToken.random();
  private final List<WireSession> sessions = new ArrayList<>();
  private final List<DDStore> stores = new ArrayList<>();
  private final List<Communicator> groups = new ArrayList<>();
  private Variable rows;

  /** Rank 1 has all rows, rank 0 reads. */
  @BeforeEach
  void start() throws Exception {
    List<GroupEndpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      sessions.add(Wire.joinAlone(token, WireOptions.of(new SparkConf(false), null, "127.0.0.1")));
      endpoints.add(GroupEndpoint.create(sessions.get(rank).lanes(null, false), rank, RANKS));
    }
    List<byte[]> addresses = endpoints.stream().map(GroupEndpoint::address).toList();
    List<CompletableFuture<DDStore>> opening = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      int r = rank;
      opening.add(CompletableFuture.supplyAsync(() -> open(endpoints.get(r), addresses, r)));
    }
    for (CompletableFuture<DDStore> one : opening) {
      stores.add(one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }
    rows = stores.get(0).variable("x");
  }

  private DDStore open(GroupEndpoint endpoint, List<byte[]> addresses, int rank) {
    try {
      Communicator group = endpoint.connect(addresses, PATIENCE);
      synchronized (groups) {
        groups.add(group);
      }
      DDStore store =
          DDStore.open(
              group,
              sessions.get(rank),
              StoreOptions.defaults().withBacking(Backing.DIRECT).withShortcut(false));
      store.add("x", Tensor.wrap(numbers(0, rank * ROWS), rank * (long) ROWS, ELEMENTS));
      return store;
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static long[] numbers(long first, int count) {
    long[] values = new long[count * ELEMENTS];
    Arrays.setAll(values, i -> first * ELEMENTS + i);
    return values;
  }

  @AfterEach
  void stop() {
    stores.forEach(DDStore::close);
    groups.forEach(Communicator::close);
    sessions.forEach(WireSession::close);
  }

  private long requests() {
    return sessions.get(1).servedRequests();
  }

  private static void check(Tensor tensor, long... indices) {
    for (int i = 0; i < indices.length; i++) {
      assertThat(tensor.getLong((long) i * ELEMENTS)).isEqualTo(indices[i] * ELEMENTS);
      assertThat(tensor.getLong((i + 1L) * ELEMENTS - 1))
          .isEqualTo(indices[i] * ELEMENTS + ELEMENTS - 1);
    }
  }

  @Test
  void batchesReadTogetherTakeOneRequest() {
    List<long[]> indices = new ArrayList<>();
    for (int b = 0; b < 10; b++) {
      int batch = b;
      long[] of = new long[8];
      Arrays.setAll(of, i -> (batch * 37L + i * 11L) % ROWS);
      indices.add(of);
    }
    try (Reader reader = rows.reader()) {
      List<Batch> batches = indices.stream().map(none -> reader.getBatch()).toList();
      long before = requests();
      for (int b = 0; b < 10; b++) {
        reader.getBatch(batches.get(b), indices.get(b));
      }
      assertThat(requests() - before).as("requests one by one").isEqualTo(10);
      reader.getBatches(batches, indices);
      assertThat(requests() - before).as("and together").isEqualTo(11);
      for (int b = 0; b < 10; b++) {
        check(batches.get(b).field("x"), indices.get(b));
        batches.get(b).close();
      }
    }
  }

  /** A loader that is well ahead reads half of what it makes ahead together. */
  @Test
  void aLoaderReadsSmallBatchesTogether() {
    int depth = 8;
    LoaderOptions options = LoaderOptions.defaults().withDepth(depth).withWorkers(1);
    long before = requests();
    long batches = 0;
    try (Loader loader =
        Loader.open(rows, Samplers.shuffled(1).batchSize(6), () -> new WorldRank(0, 1), options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        long[] indices = new long[batch.rows()];
        Arrays.setAll(indices, batch::row);
        check(batch.field("x"), indices);
        batches++;
        long left = ROWS / 6 - batches;
        await() // stands for a step that takes longer than a batch
            .pollInterval(Duration.ofMillis(1))
            .atMost(PATIENCE)
            .until(() -> left == 0 || loader.isReady());
      }
    }
    assertThat(batches).isEqualTo(100);
    assertThat(requests() - before).as("requests for 100 batches").isLessThanOrEqualTo(60);
  }
}
