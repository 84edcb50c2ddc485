// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.ddstore.ReadStatistics;
import org.ddstore.StoreInfo;
import org.ddstore.Variable;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.loader.Stage;
import org.ddstore.sampling.Batching;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.Distribution;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.Test;

/** Batches made ahead of time, of rows that lie with all ranks. */
interface LoaderContract extends Contract {
  Exception STILL_INTERRUPTED = new Exception("still interrupted");

  @Test
  default void loadsEveryRowOnceAcrossAllRanks() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          WorldRank place = new WorldRank(rank.rank(), rank.ranks());
          for (Distribution distribution : Distribution.values()) {
            Batching sampler =
                Samplers.shuffled(3).batchSize(2).distribution(distribution).everySample();
            try (Loader loader = Loader.open(x, sampler, place, LoaderOptions.defaults())) {
              for (int epoch = 0; epoch < 3; epoch++) {
                for (LoadedBatch batch : loader.epoch(epoch)) {
                  assertRows(batch);
                }
                CoverageReceipt receipt = loader.receipt(rank.group());
                assertThat(receipt.isExact()).as("%s", receipt).isTrue();
                assertThat(receipt.delivered()).isEqualTo(x.rows());
              }
            }
          }
          rank.meet();
        });
  }

  private static void assertRows(LoadedBatch batch) {
    long[] rows = new long[batch.rows()];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = batch.row(i);
    }
    assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(1, rows));
  }

  @Test
  default void resumesRaggedBatchesOnAllRanks() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable records = Records.add(store, rank, 5);
          WorldRank place = new WorldRank(rank.rank(), rank.ranks());
          Batching sampler = Samplers.shuffled(4).batchSize(3).evaluation();
          LoaderOptions options = LoaderOptions.defaults().fields("text", "points");
          EpochState state;
          try (Loader loader = Loader.open(records, sampler, place, options)) {
            loader.epoch(2).next();
            state = loader.state();
          }
          try (Loader loader = Loader.open(records, sampler, place, options)) {
            int number = 1;
            for (LoadedBatch batch : loader.resume(EpochState.parse(state.toJson()))) {
              assertThat(batch.number()).isEqualTo(number++);
              for (int i = 0; i < 3; i++) {
                assertThat(List.of(batch.string("text", i)))
                    .containsExactly((String) Records.values(5, batch.row(i))[3]);
              }
            }
            CoverageReceipt receipt = loader.receipt(rank.group());
            assertThat(receipt.isExact()).as("%s", receipt).isTrue();
          }
          rank.meet();
        });
  }

  /** The memory holds fewer batches than are best read together. */
  @Test
  default void readsBatchesAheadOfTheConsumer() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          LoaderOptions options = LoaderOptions.defaults().depth(32).maxBytes(100_000).workers(1);
          WorldRank place = new WorldRank(rank.rank(), rank.ranks());
          try (Loader loader =
              Loader.open(x, Samplers.sequential().batchSize(100), place, options)) {
            loader.push(LongStream.generate(() -> x.rows() - 1).boxed().iterator(), 100);
            for (int popped = 1; popped < 20; popped++) {
              loader.pop(PATIENCE).close();
              long ahead = popped + 2L;
              await()
                  .pollDelay(Duration.ZERO)
                  .pollInterval(Duration.ofMillis(2))
                  .atMost(PATIENCE)
                  .until(() -> reads(loader) >= ahead);
            }
          }
          rank.meet();
        });
  }

  /** The harness then looks for threads, memory and files. */
  @Test
  default void interruptInMidEpochLeaksNothing() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          CountDownLatch stuck = new CountDownLatch(1);
          CompletableFuture<Throwable> thrown = new CompletableFuture<>();
          Thread consumer = new Thread(() -> thrown.complete(consume(x, stuck)), "consumer");
          consumer.start();
          assertThat(stuck.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
          consumer.interrupt();
          assertThat(thrown.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
              .isInstanceOf(DDStoreException.class)
              .hasMessage("interrupted while waiting for a batch")
              .hasSuppressedException(STILL_INTERRUPTED);
          consumer.join();
          rank.meet();
        });
  }

  private static Throwable consume(Variable x, CountDownLatch stuck) {
    LoaderOptions options =
        LoaderOptions.defaults()
            .depth(2)
            .transform(
                batch -> {
                  if (batch.number() == 5) {
                    stuck.countDown();
                    awaitInterrupt();
                  }
                });
    try (Loader loader =
        Loader.open(x, Samplers.sequential().batchSize(1), new WorldRank(0, 1), options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        assertRows(batch);
      }
      return new AssertionError("all batches came");
    } catch (DDStoreException e) { // after the close
      if (Thread.currentThread().isInterrupted()) {
        e.addSuppressed(STILL_INTERRUPTED);
      }
      return e;
    }
  }

  private static void awaitInterrupt() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      throw new DDStoreException("interrupted", e);
    }
  }

  @Test
  default void countsReadsByPath() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          WorldRank alone = new WorldRank(0, 1);
          long[] expected = new long[ReadPath.values().length];
          for (StoreInfo.Extent extent : store.info().variables().get(0).extents()) {
            expected[rank.pathTo(extent.rank()).index()] += extent.rows();
          }
          Batching sampler = Samplers.shuffled(3).batchSize(2).everySample();
          try (Loader loader = Loader.open(x, sampler, alone, LoaderOptions.defaults())) {
            loader.epoch(0).forEach(LoaderContract::assertRows);
            for (ReadPath path : ReadPath.values()) {
              ReadStatistics reads = loader.readStatistics().get(path.index());
              assertThat(reads.path()).isEqualTo(path);
              assertThat(reads.rows()).as("%s", reads).isEqualTo(expected[path.index()]);
              assertThat(reads.bytes()).isEqualTo(reads.rows() * x.schema().field("x").bytes());
              assertThat(reads.calls() > 0).isEqualTo(reads.rows() > 0);
              assertThat(reads.bestNanos() > 0).as("%s", reads).isEqualTo(reads.calls() > 0);
              assertThat(reads.bestNanos() * reads.calls())
                  .as("%s", reads)
                  .isLessThanOrEqualTo(reads.nanos());
            }
          }
          rank.meet();
        });
  }

  private static long reads(Loader loader) {
    return loader.statistics().get(Stage.READ.index()).count();
  }
}
