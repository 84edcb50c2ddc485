// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Iterator;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A loader's bound on memory, where rows come over a network into memory of the readers first. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class TcpLoaderMemoryTest {
  private static final int ROWS = 600;
  private static final int IMAGE = 700;
  private static final int BATCH = 100;
  private static final int BATCHES = 60;
  private static final int DEPTH = 20;
  private static final int WORKERS = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private TcpRanks ranks;
  private long before;
  private final AtomicLong most = new AtomicLong();

  /** Rank 0 has no rows of "one", and rank 1 all; of the others each rank has as many. */
  @BeforeAll
  void start() throws Exception {
    ranks = new TcpRanks(4, TcpLoaderMemoryTest::add);
    before = OffHeapBuffer.liveBytes();
  }

  private static void add(DDStore store) {
    store.add("one", images(0, store.rank() == 1 ? 4 * ROWS : 0));
    store.add("all", images((long) store.rank() * ROWS, ROWS));
    ShardWriter ragged =
        ShardWriter.create(
            Schema.of(Field.fixed("id", DType.INT64), Field.ragged("points", DType.UINT8)),
            StoreOptions.defaults().backing(Backing.DIRECT));
    for (int row = 0; row < ROWS; row++) {
      ragged.append((long) store.rank() * ROWS + row, bytes(row, IMAGE));
    }
    store.add("ragged", ragged);
  }

  private static ShardWriter images(long first, int count) {
    ShardWriter shard =
        ShardWriter.create(
            Schema.of(Field.fixed("id", DType.INT64), Field.fixed("image", DType.UINT8, IMAGE)),
            StoreOptions.defaults().backing(Backing.DIRECT));
    for (int row = 0; row < count; row++) {
      shard.append(first + row, bytes(row, IMAGE));
    }
    return shard;
  }

  private static byte[] bytes(int seed, int count) {
    byte[] bytes = new byte[count];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @AfterEach
  void assertNothingLeft() {
    assertThat(OffHeapBuffer.liveBytes()).as("live bytes").isEqualTo(before);
  }

  @AfterAll
  void stop() {
    ranks.close();
  }

  /** The most live bytes while a loader reads numbers of samples under a bound. */
  private long maxBytes(String variable, Iterator<Long> samples, LoaderOptions options) {
    most.set(0);
    Variable rows = ranks.store(0).variable(variable);
    try (Loader loader =
        Loader.open(
            rows,
            Samplers.sequential().batchSize(BATCH),
            new WorldRank(0, 1),
            options.depth(DEPTH).workers(WORKERS).transform(batch -> look()))) {
      loader.push(samples, BATCH);
      for (int i = 0; i < BATCHES; i++) {
        try (LoadedBatch batch = loader.pop(PATIENCE)) {
          look();
          assertThat(batch.field("id").toLongArray())
              .isEqualTo(IntStream.range(0, BATCH).mapToLong(batch::row).toArray());
        }
      }
    }
    return most.get();
  }

  private void look() {
    most.accumulateAndGet(OffHeapBuffer.liveBytes() - before, Math::max);
  }

  private static Iterator<Long> shuffled() {
    return new Random(7).longs(0, 4L * ROWS).boxed().iterator();
  }

  /** One process after the other. */
  private static Iterator<Long> inOrder() {
    return LongStream.iterate(0, row -> (row + 1) % (4L * ROWS)).boxed().iterator();
  }

  @ParameterizedTest
  @CsvSource({"one,400000", "one,1000000", "all,600000", "all,1500000"})
  void liveBytesStayWithinTheBound(String variable, long maxBytes) {
    LoaderOptions options = LoaderOptions.defaults().maxBytes(maxBytes);
    assertThat(maxBytes(variable, shuffled(), options))
        .as("shuffled")
        .isBetween(maxBytes / 3, maxBytes);
    assertThat(maxBytes(variable, inOrder(), options))
        .as("in order")
        .isBetween(maxBytes / 3, maxBytes);
  }

  /** The memory of each reader has room for several batches. */
  @ParameterizedTest
  @ValueSource(strings = {"one", "all"})
  void batchesReadTogetherStayWithinTheBound(String variable) {
    long maxBytes = 21 * 1_000_000;
    LoaderOptions options = LoaderOptions.defaults().maxBytes(maxBytes);
    long requests = ranks.session(1).servedRequests();
    assertThat(maxBytes(variable, shuffled(), options)).isBetween(maxBytes / 10, maxBytes);
    assertThat(ranks.session(1).servedRequests() - requests)
        .as("requests for %d batches and those ahead", BATCHES)
        .isLessThan(BATCHES);
  }

  /** Records come as wholes, also if one small field of them is wanted. */
  @ParameterizedTest
  @CsvSource({"one,200000", "all,400000"})
  void fieldsThatAreNotRequestedCount(String variable, long maxBytes) {
    LoaderOptions options = LoaderOptions.defaults().maxBytes(maxBytes).fields("id");
    assertThat(maxBytes(variable, shuffled(), options)).isBetween(maxBytes / 3, maxBytes);
  }

  @Test
  void boundIncludesCasts() {
    long maxBytes = 1_500_000;
    LoaderOptions options =
        LoaderOptions.defaults().maxBytes(maxBytes).cast("image", DType.FLOAT32);
    assertThat(maxBytes("one", shuffled(), options)).isBetween(maxBytes / 3, maxBytes);
  }

  /**
   * Nothing is known before of a batch that comes from a process that a reader has not met: one on
   * each worker may be larger than all before.
   */
  @Test
  void raggedRowsStayWithinTheBound() {
    long maxBytes = 1_500_000;
    LoaderOptions options = LoaderOptions.defaults().maxBytes(maxBytes);
    long larger = WORKERS * GrowingBuffer.capacityFor(BATCH * (IMAGE + 16L));
    assertThat(maxBytes("ragged", shuffled(), options)).isBetween(maxBytes / 3, maxBytes + larger);
    assertThat(maxBytes("ragged", inOrder(), options)).isBetween(maxBytes / 3, maxBytes + larger);
    LoaderOptions ids = options.fields("id").maxBytes(500_000);
    assertThat(maxBytes("ragged", shuffled(), ids)).isBetween(500_000L / 3, 500_000 + larger);
  }

  /**
   * Whole records arrive, not only the requested fields: batches are read together only while
   * memory for all prefetched batches remains.
   */
  @ParameterizedTest
  @CsvSource({"5000000, false", "20000000, true"})
  void raggedRecordsLeaveRoomForAllPrefetchedBatches(long maxBytes, boolean together) {
    LoaderOptions ids = LoaderOptions.defaults().fields("id").maxBytes(maxBytes);
    long requests = ranks.session(1).servedRequests();
    assertThat(maxBytes("ragged", shuffled(), ids)).isBetween(500_000L, maxBytes);
    assertThat(ranks.session(1).servedRequests() - requests < BATCHES)
        .as("fewer requests than batches")
        .isEqualTo(together);
    try (Loader loader =
        Loader.open(
            ranks.store(0).variable("ragged"),
            Samplers.sequential().batchSize(BATCH),
            new WorldRank(0, 1),
            ids.depth(DEPTH).workers(WORKERS))) {
      loader.push(shuffled(), BATCH);
      for (int i = 0; i < BATCHES; i++) {
        loader.pop(PATIENCE).close();
      }
      await().atMost(PATIENCE).until(() -> loader.pending() == DEPTH);
    }
  }

  @Test
  void rejectsATooSmallBoundWithTheSizes() {
    LoaderOptions options = LoaderOptions.defaults().maxBytes(150_000);
    assertThatThrownBy(() -> maxBytes("one", shuffled(), options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "a batch of 100 samples takes 172,032 bytes, 81,920 of them for remote rows in transit,"
                + " and maxBytes is 150,000: raise it by maxBytes(..), or use about 87 samples per"
                + " batch");
  }
}
