// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.ShardWriter;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** When an update is seen, and that it is never seen in part. */
interface EpochContract extends Contract {
  int TORN_ROWS = 6;
  int TORN_WORDS = 1500;
  int TORN_EPOCHS = 20;

  static long[] all(DDStore store, String name) {
    long[] values = new long[Math.toIntExact(store.variable(name).rows())];
    store.get(name, Tensor.wrap(values), 0);
    return values;
  }

  static Variable addOnes(DDStore store) {
    return store.add("x", Tensor.wrap(new long[] {1, 1, 1}));
  }

  static long[] filled(int ranks, long... ofARank) {
    long[] values = new long[ranks * ofARank.length];
    Arrays.setAll(values, i -> ofARank[i % ofARank.length]);
    return values;
  }

  @Test
  default void updateBecomesVisibleAtTheNextEpoch() throws Exception {
    run(
        rank -> {
          int n = rank.ranks();
          try (DDStore store = rank.open()) {
            addOnes(store);
            long[] two = {2};
            store.update("x", Tensor.wrap(two), 1);
            two[0] = -1; // was copied
            rank.meet();
            assertThat(all(store, "x")).isEqualTo(filled(n, 1, 1, 1));
            rank.meet();
            store.epochBegin();
            assertThat(all(store, "x")).isEqualTo(filled(n, 1, 2, 1));
            store.update("x", Tensor.wrap(new long[] {3, 4}), 1);
            rank.meet();
            assertThat(all(store, "x")).as("in the epoch").isEqualTo(filled(n, 1, 2, 1));
            rank.meet();
            store.epochEnd();
            rank.meet();
            assertThat(all(store, "x")).as("after the epoch").isEqualTo(filled(n, 1, 2, 1));
            rank.meet();
            store.epochBegin();
            assertThat(all(store, "x")).isEqualTo(filled(n, 1, 3, 4));
            store.epochEnd();
          }
        });
  }

  @Test
  default void versionCountsTheEpochsThatChangedAVariable() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = addOnes(store);
          Variable y = store.add("y", Tensor.wrap(new long[] {1, 1}));
          long[][] versions = {{0, 0}, {0, 1}, {0, 1}, {1, 2}};
          for (int epoch = 0; epoch < versions.length; epoch++) {
            if (epoch == 1 && rank.rank() == rank.ranks() - 1) {
              store.update("y", Tensor.wrap(new long[] {2}), 0);
              store.update("y", Tensor.wrap(new long[] {2}), 1);
            } else if (epoch == 3) {
              store.update(rank.rank() == 0 ? "x" : "y", Tensor.wrap(new long[] {3}), 1);
              store.update("y", Tensor.wrap(new long[] {4}), 0);
            }
            store.epochBegin();
            assertThat(new long[] {x.version(), y.version()}).isEqualTo(versions[epoch]);
            store.epochEnd();
          }
          store.append("x", Tensor.wrap(new long[] {5}));
          assertThat(x.version()).as("an append counts by its rows").isEqualTo(1);
        });
  }

  @Test
  default void laterUpdatesWinAndBadUpdatesFail() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = addOnes(store);
          store.update("x", Tensor.wrap(new long[] {5, 6, 7}), 0);
          store.update("x", Tensor.wrap(new long[] {8}), 2);
          store.update("x", Tensor.wrap(new long[0]), 3);
          long[][] bad = {{-1, 1}, {3, 1}, {2, 2}, {Long.MAX_VALUE, 1}, {4, 0}};
          for (long[] place : bad) {
            Tensor rows = Tensor.wrap(new long[(int) place[1]]);
            assertThatThrownBy(() -> store.update("x", rows, place[0]))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageEndingWith(
                    "outside [0, 3), the rows of rank %d in \"x\"".formatted(rank.rank()));
          }
          for (Tensor wrong :
              new Tensor[] {
                Tensor.wrap(new double[1]), Tensor.wrap(new long[1], 1, 1), Tensor.wrap(new int[2])
              }) {
            assertThatThrownBy(() -> store.update("x", wrong, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("rows %s cannot replace rows of %s".formatted(wrong, x));
          }
          store.epochBegin();
          assertThat(all(store, "x")).isEqualTo(filled(rank.ranks(), 5, 6, 8));
          store.epochEnd();
        });
  }

  @Test
  default void updatesReachAppendedRows() throws Exception {
    runWithStore(
        (rank, store) -> {
          addOnes(store);
          store.append("x", Tensor.wrap(new long[] {10, 11}));
          store.update("x", Tensor.wrap(new long[] {7, 8, 9}), 2);
          store.epochBegin();
          store.epochEnd();
          long[] expected = Arrays.copyOf(filled(rank.ranks(), 1, 1, 7), 5 * rank.ranks());
          long[] appended = filled(rank.ranks(), 8, 9);
          System.arraycopy(appended, 0, expected, 3 * rank.ranks(), appended.length);
          assertThat(all(store, "x")).isEqualTo(expected);
        });
  }

  @Test
  default void rejectsNestedEpochsAndAnEndWithoutABegin() throws Exception {
    runWithStore(
        (rank, store) -> {
          addOnes(store);
          assertThatThrownBy(store::epochEnd)
              .isInstanceOf(IllegalStateException.class)
              .hasMessage("no access epoch has begun: call epochBegin() first");
          store.update("x", Tensor.wrap(new long[] {2}), 0);
          store.epochBegin();
          store.update("x", Tensor.wrap(new long[] {3}), 0);
          assertThatThrownBy(store::epochBegin)
              .isInstanceOf(IllegalStateException.class)
              .hasMessage("an access epoch has begun already: call epochEnd() first");
          assertThat(all(store, "x")).isEqualTo(filled(rank.ranks(), 2, 1, 1));
          store.epochEnd();
          store.epochBegin();
          assertThat(all(store, "x")).isEqualTo(filled(rank.ranks(), 3, 1, 1));
          store.epochEnd();
          assertThatThrownBy(store::epochEnd).isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  default void readsNoTornOrOlderRowDuringEpochs() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = store.init("x", TORN_ROWS, DType.INT64, TORN_WORDS);
          AtomicBoolean stop = new AtomicBoolean();
          ExecutorService threads = Executors.newFixedThreadPool(2);
          CompletableFuture<?>[] readers = new CompletableFuture<?>[2];
          for (int t = 0; t < readers.length; t++) {
            boolean batches = t == 0;
            readers[t] = CompletableFuture.runAsync(() -> readUntorn(x, batches, stop), threads);
          }
          try {
            for (long epoch = 1; epoch <= TORN_EPOCHS && !anyDone(readers); epoch++) {
              long[] rows = new long[TORN_ROWS * TORN_WORDS];
              Arrays.fill(rows, epoch);
              store.update("x", Tensor.wrap(rows, TORN_ROWS, TORN_WORDS), 0);
              store.epochBegin();
              assertVersion(x, epoch);
              store.epochEnd();
            }
          } finally {
            stop.set(true);
            CompletableFuture.allOf(readers).join();
            threads.shutdown();
          }
        });
  }

  private static boolean anyDone(CompletableFuture<?>... readers) {
    return Arrays.stream(readers).anyMatch(CompletableFuture::isDone);
  }

  private static void assertVersion(Variable x, long epoch) {
    try (Reader reader = x.reader();
        Batch batch = reader.getBatch(0, x.rows() - 1, x.rows() / 2)) {
      assertThat(batch.field("x").toLongArray()).containsOnly(epoch);
    }
  }

  private static void readUntorn(Variable x, boolean batches, AtomicBoolean stop) {
    int rows = (int) x.rows();
    long[] last = new long[rows];
    long[] indices = Rows.shuffledTwice(rows, 1);
    long[] words = new long[rows * TORN_WORDS];
    try (Reader reader = x.reader()) {
      while (!stop.get()) {
        if (batches) {
          try (Batch batch = reader.getBatch(indices)) {
            long[] got = batch.field("x").toLongArray();
            for (int i = 0; i < indices.length; i++) {
              checkRow(got, i, (int) indices[i], last);
            }
          }
        } else {
          reader.get(Tensor.wrap(words, rows, TORN_WORDS), 0);
          for (int row = 0; row < rows; row++) {
            checkRow(words, row, row, last);
          }
        }
      }
    }
  }

  private static void checkRow(long[] words, int at, int row, long[] last) {
    long first = words[at * TORN_WORDS];
    int mismatch = 1;
    while (mismatch < TORN_WORDS && words[at * TORN_WORDS + mismatch] == first) {
      mismatch++;
    }
    assertThat(mismatch).as("first word that differs in row %d", row).isEqualTo(TORN_WORDS);
    assertThat(first).as("row %d", row).isGreaterThanOrEqualTo(last[row]);
    last[row] = first;
  }

  @Test
  default void raisesABeginRefusedByOneRankOnAllRanks() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open();
              DDStore other = rank.open()) {
            addOnes(store);
            if (rank.rank() == 0) { // epochBegin of two stores: equal for the group
              store.epochBegin();
              assertThatThrownBy(store::epochBegin).isInstanceOf(IllegalStateException.class);
            } else {
              store.epochBegin();
              assertThatThrownBy(other::epochBegin)
                  .isInstanceOfSatisfying(
                      RankFailedException.class, e -> assertThat(e.rank()).isZero())
                  .hasMessageContaining("an access epoch has begun already");
            }
            store.epochEnd();
            store.epochBegin();
            assertThat(all(store, "x")).isEqualTo(filled(rank.ranks(), 1, 1, 1));
            store.epochEnd();
          }
        });
  }

  private static void pretendToBegin(RankEnv rank) {
    rank.group().exchange("epochBegin()", () -> new byte[0]);
  }

  private static void assertRefused(DDStore store, Class<? extends Throwable> cause) {
    Variable x = store.variable("x");
    assertThat(x.version()).as("rows may have changed").isEqualTo(1);
    try (Reader reader = x.reader()) {
      assertThatThrownBy(() -> reader.getBatch(0).close())
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("rows of \"x\" are unreadable: epochBegin() failed on rank")
          .hasMessageContaining("close the store and load the rows again")
          .hasCauseInstanceOf(cause);
      assertThatThrownBy(() -> reader.get(Tensor.wrap(new long[1]), 0))
          .isInstanceOf(DDStoreException.class);
    }
    assertThatThrownBy(() -> x.memory(0)).isInstanceOf(DDStoreException.class);
    assertThatThrownBy(() -> store.update("x", Tensor.wrap(new long[] {5}), 0))
        .isInstanceOf(DDStoreException.class);
    assertThat(store.info().variables()).as("still described").hasSize(2);
    assertThat(all(store, "y")).as("not changed by anybody").containsOnly(1);
  }

  @Test
  default void failedBeginBlocksReadsOfChangedRows() throws Exception {
    run(
        rank -> {
          int last = rank.ranks() - 1;
          try (DDStore store = rank.open()) {
            addOnes(store);
            store.add("y", Tensor.wrap(new long[] {1, 1}));
            if (last > 0 && rank.rank() == last) {
              pretendToBegin(rank);
              assertThatThrownBy(
                      () ->
                          rank.group()
                              .exchange(
                                  "epochBegin() apply",
                                  () -> {
                                    throw new IOException("disk on fire");
                                  }))
                  .isInstanceOf(RankFailedException.class);
            } else if (last > 0) {
              store.update("x", Tensor.wrap(new long[] {2}), 0);
              assertThatThrownBy(store::epochBegin)
                  .isInstanceOf(RankFailedException.class)
                  .hasMessageContaining("disk on fire");
              assertRefused(store, RankFailedException.class);
            }
            rank.meet();
          }
        });
  }

  @Test
  default void interruptedBeginBlocksReadsOfChangedRows() throws Exception {
    run(
        rank -> {
          int last = rank.ranks() - 1;
          try (DDStore store = rank.open()) {
            Variable x = addOnes(store);
            store.add("y", Tensor.wrap(new long[] {1, 1}));
            if (last > 0 && rank.rank() == last) {
              pretendToBegin(rank);
            } else if (last > 0) {
              store.update("x", Tensor.wrap(new long[] {2}), 0);
              Thread beginning = Thread.currentThread();
              CompletableFuture<Void> interrupting =
                  CompletableFuture.runAsync(() -> interruptOnceChanged(x, rank.rank(), beginning));
              assertThatThrownBy(store::epochBegin).isInstanceOf(DDStoreException.class);
              interrupting.join();
              assertThat(Thread.interrupted()).as("the flag stays").isTrue();
              assertRefused(store, DDStoreException.class);
            }
            rank.meet();
          }
        });
  }

  private static void interruptOnceChanged(Variable x, int rank, Thread beginning) {
    try (Reader reader = x.reader()) {
      long[] first = new long[1];
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                reader.get(Tensor.wrap(first), x.firstRowOf(rank));
                return first[0] == 2;
              });
    } catch (DDStoreException e) {
      // Another rank was interrupted first, and its news has come.
    }
    beginning.interrupt();
  }

  @Test
  default void readOnlyRowsRejectUpdatesAndAppends() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open();
              ShardWriter shard =
                  ShardWriter.create(Schema.of(Field.fixed("x", DType.INT64)), rank.options())) {
            for (int row = 0; row < 3; row++) {
              shard.append(1L);
            }
            store.addReadOnly("x", shard, "it is a copy");
            assertThatThrownBy(() -> store.update("x", Tensor.wrap(new long[] {2}), 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("\"x\"")
                .hasMessageEndingWith("cannot be updated: it is a copy");
            assertThatThrownBy(() -> store.append("x", Tensor.wrap(new long[] {2})))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageEndingWith("cannot be appended to: it is a copy");
            store.epochBegin();
            assertThat(all(store, "x")).isEqualTo(filled(rank.ranks(), 1, 1, 1));
            store.epochEnd();
          }
        });
  }
}
