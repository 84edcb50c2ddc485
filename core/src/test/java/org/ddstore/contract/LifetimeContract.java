// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreAccess;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.DeadlineExceededException;
import org.junit.jupiter.api.Test;

/** Closing, and what may still be used then. */
interface LifetimeContract extends Contract {
  @Test
  default void closeIsIdempotentAndRejectsLaterUse() throws Exception {
    run(
        rank -> {
          DDStore store = rank.open();
          Variable x = Rows.addLongs(store, "x", 1);
          Reader reader = x.reader();
          Reader closed = x.reader();
          closed.close();
          closed.close();
          assertClosed(closed, () -> closed.getBatch(0).close());
          rank.meet();
          store.close();
          store.close();
          reader.close();
          Tensor room = Tensor.wrap(new long[3], 1, 3);
          for (Runnable use :
              List.<Runnable>of(
                  () -> store.add("y", room),
                  () -> store.init("y", 1, DType.BOOL),
                  () -> store.append("x", room),
                  () -> store.variable("x"),
                  () -> store.update("x", room, 0),
                  () -> store.get("x", room, 0),
                  () -> store.getBatch("x", room, 0),
                  () -> store.getBatch("x", 0).close(),
                  store::epochBegin,
                  store::epochEnd,
                  () -> store.digest("x"),
                  store::info,
                  () -> x.reader().close())) {
            assertClosed(store, use);
          }
          assertThatThrownBy(() -> reader.get(room, 0))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageStartingWith("closed: ");
        });
  }

  @Test
  default void secondCloseOfABatchLeavesItsNextOwnerIntact() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open();
              Reader reader = Rows.addLongs(store, "x", 4).reader()) {
            Batch first = reader.getBatch(0);
            Tensor ofFirst = first.field("x");
            first.close();
            try (Batch second = reader.getBatch(1)) {
              long[] before = second.field("x").toLongArray();
              first.close();
              try (Batch third = reader.getBatch(2)) {
                assertThat(third.field("x").toLongArray()).isNotEqualTo(before);
                assertThat(second.field("x").toLongArray()).isEqualTo(before);
              }
              assertThatThrownBy(() -> first.field("x"))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageStartingWith("closed: Batch");
              assertClosed(first, ofFirst::toLongArray);
              assertClosed(first, ofFirst::asByteBuffer);
              assertClosed(first, () -> ofFirst.getLong(0));
              assertClosed(first, () -> reader.getBatch(ofFirst, 1));
            }
            rank.meet();
          }
        });
  }

  private static void assertClosed(Object what, Runnable use) {
    assertThatThrownBy(use::run)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: " + what);
  }

  @Test
  default void aBatchOutlivesReaderAndStore() throws Exception {
    run(
        rank -> {
          DDStore store = rank.open();
          Rows.addLongs(store, "x", 1);
          Reader reader = store.variable("x").reader();
          Batch batch = reader.getBatch(0, 1);
          Batch ofStore = store.getBatch("x", 2);
          reader.close();
          store.close();
          assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(1, 0, 1));
          assertThat(ofStore.field("x").toByteArray()).isEqualTo(Rows.longs(1, 2));
          assertThatThrownBy(() -> reader.getBatch(batch, 0))
              .isInstanceOf(IllegalStateException.class);
          batch.close();
          ofStore.close();
          ofStore.close();
        });
  }

  @Test
  default void mappedRowsOutliveTheCloseOfTheirOwner() throws Exception {
    assumeFalse(readsOverANetwork(), "only memory stays when its owner closes");
    run(
        rank -> {
          DDStore store = rank.open();
          Rows.addLongs(store, "x", 1);
          rank.meet();
          if (rank.rank() == 0) {
            store.close();
          }
          rank.meet();
          if (rank.rank() != 0) {
            Tensor first = Tensor.wrap(new long[3], 1, 3);
            store.get("x", first, 0);
            assertThat(first.toByteArray()).isEqualTo(Rows.longs(1, 0));
            store.close();
          }
        });
  }

  @Test
  default void closeTimesOutUnderAReaderThatThenFrees() throws Exception {
    assumeFalse(readsOverANetwork(), "rows of a store that closes are not served");
    run(
        rank -> {
          DDStore store = rank.open(rank.options().closeTimeout(Duration.ofMillis(50)));
          Variable x = store.add("x", Tensor.wrap(new long[] {4}));
          rank.meet();
          StoreAccess.beginChange(x);
          FutureTask<Long> read =
              new FutureTask<>(
                  () -> {
                    long[] got = new long[1];
                    store.getBatch("x", Tensor.wrap(got), rank.rank());
                    return got[0];
                  });
          Thread thread = new Thread(read, "contract-reader");
          thread.start();
          await()
              .atMost(PATIENCE)
              .untilAsserted(
                  () ->
                      assertThatThrownBy(() -> inReader(store, x))
                          .isInstanceOf(DeadlineExceededException.class)
                          .hasMessageContaining(
                              "reads are still in flight PT0.05S after the close"));
          assertThatThrownBy(() -> store.variable("x")).isInstanceOf(IllegalStateException.class);
          StoreAccess.endChange(x);
          assertThat(read.get(10, TimeUnit.SECONDS)).isEqualTo(4);
          thread.join();
          store.close();
        });
  }

  private static void inReader(DDStore store, Variable x) {
    assertThat(StoreAccess.readersInside(x)).isPositive();
    store.close();
  }

  @Test
  default void closeWaitsForAReaderThatEndsInTime() throws Exception {
    assumeFalse(readsOverANetwork(), "rows of a store that closes are not served");
    run(
        rank -> {
          DDStore store = rank.open();
          Variable x = store.add("x", Tensor.wrap(new long[] {4}));
          rank.meet();
          StoreAccess.beginChange(x);
          ExecutorService threads = Executors.newFixedThreadPool(2);
          CompletableFuture<Void> read =
              CompletableFuture.runAsync(
                  () -> store.getBatch("x", Tensor.wrap(new long[1]), rank.rank()), threads);
          await().atMost(PATIENCE).until(() -> StoreAccess.readersInside(x) > 0);
          CompletableFuture<Void> close = CompletableFuture.runAsync(store::close, threads);
          await().atMost(PATIENCE).until(() -> StoreAccess.isClosed(x));
          assertThat(close).isNotDone();
          StoreAccess.endChange(x);
          read.get(10, TimeUnit.SECONDS);
          close.get(10, TimeUnit.SECONDS);
          threads.shutdown();
        });
  }

  @Test
  default void reportsAnInterruptWhileRowsChange() throws Exception {
    assumeFalse(readsOverANetwork(), "an interrupt ends a wait for the network at once");
    runWithStore(
        (rank, store) -> {
          Variable x = store.add("x", Tensor.wrap(new long[] {4}));
          rank.meet();
          long[] got = new long[1];
          Thread.currentThread().interrupt(); // a read of stable rows does not mind
          store.getBatch("x", Tensor.wrap(got), rank.rank());
          assertThat(Thread.interrupted()).isTrue();
          assertThat(got).containsExactly(4);
          StoreAccess.beginChange(x);
          Thread.currentThread().interrupt();
          assertThatThrownBy(() -> store.getBatch("x", Tensor.wrap(got), rank.rank()))
              .isInstanceOf(DDStoreException.class)
              .hasMessage("interrupted while rows of \"x\" changed");
          assertThat(Thread.interrupted()).isTrue();
          StoreAccess.endChange(x);
          store.getBatch("x", Tensor.wrap(got), rank.rank());
          rank.meet();
        });
  }

  @Test
  default void readTimesOutOnEveryPathWhileRowsChange() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open(rank.options().readTimeout(Duration.ofMillis(100)))) {
            Variable x = store.add("x", Tensor.wrap(new long[] {4}));
            rank.meet();
            StoreAccess.beginChange(x);
            rank.meet();
            try (Reader reader = x.reader()) {
              for (int owner = 0; owner < rank.ranks(); owner++) {
                long row = owner;
                assertThatThrownBy(() -> reader.getBatch(row).close())
                    .isInstanceOf(DeadlineExceededException.class)
                    .hasMessageMatching("(?s).*(PT0\\.1S|100 ms).*");
              }
            }
            rank.meet();
            StoreAccess.endChange(x);
            rank.meet();
          }
        });
  }

  @Test
  default void closeEndsConcurrentReads() throws Exception {
    run(
        rank -> {
          DDStore store = rank.open();
          Variable x = Rows.addLongs(store, "x", 1);
          ExecutorService threads = Executors.newFixedThreadPool(8);
          AtomicLong reads = new AtomicLong();
          List<CompletableFuture<Void>> running = new ArrayList<>();
          for (int t = 0; t < 8; t++) {
            long[] indices = Rows.shuffledTwice((int) x.rows(), t);
            byte[] expected = Rows.longs(1, indices);
            boolean own = t % 2 == 0;
            running.add(
                CompletableFuture.runAsync(
                    () -> {
                      Reader reader = own ? x.reader() : null;
                      while (true) {
                        try (Batch batch =
                            own ? reader.getBatch(indices) : store.getBatch("x", indices)) {
                          assertThat(batch.field("x").toByteArray()).isEqualTo(expected);
                        }
                        reads.incrementAndGet();
                      }
                    },
                    threads));
          }
          await()
              .pollInterval(Duration.ofMillis(10))
              .atMost(PATIENCE)
              .until(() -> reads.get() > 500);
          rank.meet();
          store.close();
          for (CompletableFuture<Void> reader : running) {
            assertThatThrownBy(reader::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("closed: ");
          }
          threads.shutdown();
        });
  }

  @Test
  default void readerRejectsASecondThread() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = store.add("x", Tensor.wrap(new long[] {4}));
          rank.meet();
          StoreAccess.beginChange(x);
          try (Reader reader = x.reader()) {
            CompletableFuture<Void> read =
                CompletableFuture.runAsync(() -> reader.getBatch(rank.rank()).close());
            await().atMost(PATIENCE).until(() -> StoreAccess.readersInside(x) > 0);
            assertThatThrownBy(() -> reader.getBatch(rank.rank()).close())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("used by two threads at once: Reader[\"x\"]");
            StoreAccess.endChange(x);
            read.get(10, TimeUnit.SECONDS);
          }
          rank.meet();
        });
  }

  @Test
  default void manyStoresLeakNothing() throws Exception {
    run(
        rank -> {
          long before = OffHeapBuffer.liveBytes() + MappedRegion.liveBytes();
          for (int i = 0; i < 20; i++) {
            try (DDStore store = rank.open()) {
              Rows.addLongs(store, "x", i);
              store.getBatch("x", 0, 1).close();
              rank.meet();
            }
            rank.meet();
            assertThat(OffHeapBuffer.liveBytes() + MappedRegion.liveBytes()).isEqualTo(before);
            rank.meet();
          }
        });
  }
}
