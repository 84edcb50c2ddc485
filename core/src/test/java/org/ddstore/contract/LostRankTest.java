// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreAccess;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.collective.LocalGroup;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One of three processes is killed while the others read. */
@Tag("system")
@Timeout(180)
class LostRankTest {
  private static final int LOST = 1;

  private static final Map<Backing, ProcessRanks> PROCESSES = new EnumMap<>(Backing.class);

  @AfterAll
  static void end() throws IOException {
    for (ProcessRanks processes : PROCESSES.values()) {
      processes.close();
    }
    PROCESSES.clear();
  }

  private static void lose(Backing backing, Scenario scenario) throws Exception {
    ProcessRanks processes = PROCESSES.get(backing);
    if (processes == null) {
      Path root = backing == Backing.FILE ? TestRoots.onDisk() : TestRoots.sharedMemory();
      processes = new ProcessRanks(backing, root);
      PROCESSES.put(backing, processes);
    }
    processes.runLosing(LOST, 3, Duration.ofSeconds(30), scenario);
    processes.run(3, Duration.ofSeconds(30), LostRankTest::startAgain);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DIRECT")
  void readsContinueAndCollectivesNameTheLostRank(Backing backing) throws Exception {
    lose(backing, LostRankTest::loseOne);
  }

  private static void loseOne(RankEnv rank) throws IOException {
    try (DDStore store = rank.open()) {
      Variable x = Rows.addLongs(store, "x", 1);
      long[] indices = Rows.shuffledTwice(Rows.first(3), 4);
      byte[] expected = Rows.longs(1, indices);
      long[] pids = rank.tell(ProcessHandle.current().pid());
      ProcessHandle lost = ProcessHandle.of(pids[LOST]).orElseThrow();
      try (Reader reader = x.reader()) {
        for (int i = 0; i < 2000; i++) {
          if (rank.rank() == 0 && i == 200) {
            assertThat(lost.destroyForcibly()).isTrue();
          }
          if (rank.rank() == LOST) {
            i = 0; // reads until it is killed
          }
          try (Batch batch = reader.getBatch(indices)) {
            assertThat(batch.field("x").toByteArray()).isEqualTo(expected);
          }
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> !lost.isAlive());
        assertThatThrownBy(store::epochBegin)
            .isInstanceOfSatisfying(
                RankLostException.class, e -> assertThat(e.rank()).isEqualTo(LOST))
            .hasMessageContaining("the process of rank 1 has ended");
        assertThatThrownBy(() -> Rows.addLongs(store, "y", 1))
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("rank 1");
        try (Batch batch = reader.getBatch(indices)) {
          assertThat(batch.field("x").toByteArray()).as("after it").isEqualTo(expected);
        }
      }
    }
    sweep(rank);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DIRECT")
  void loadersContinueAndReceiptNamesTheLostRank(Backing backing) throws Exception {
    lose(backing, LostRankTest::loadAndLoseOne);
  }

  private static void loadAndLoseOne(RankEnv rank) throws IOException {
    try (DDStore store = rank.open()) {
      Variable x = Rows.addLongs(store, "x", 1);
      long[] pids = rank.tell(ProcessHandle.current().pid());
      ProcessHandle lost = ProcessHandle.of(pids[LOST]).orElseThrow();
      BatchSampler sampler = Samplers.shuffled(3).batchSize(2).everySample();
      WorldRank place = new WorldRank(rank.rank(), rank.ranks());
      try (Loader loader = Loader.open(x, sampler, place, LoaderOptions.defaults())) {
        int epoch = 0;
        for (int after = 0; after < 3; after += lost.isAlive() ? 0 : 1) {
          for (LoadedBatch batch : loader.epoch(epoch++)) {
            if (rank.rank() == 0 && epoch == 20 && batch.number() == 1) {
              assertThat(lost.destroyForcibly()).isTrue();
            }
            long[] indices = new long[batch.rows()];
            Arrays.setAll(indices, batch::row);
            assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(1, indices));
          }
        }
        assertThatThrownBy(() -> loader.receipt(rank.group()))
            .isInstanceOfSatisfying(
                RankLostException.class, e -> assertThat(e.rank()).isEqualTo(LOST));
      }
    }
    sweep(rank);
  }

  @Test
  void rejectsRowsThatADeadRankWasChanging() throws Exception {
    lose(Backing.SHM, LostRankTest::loseOneThatChangesRows);
  }

  private static void loseOneThatChangesRows(RankEnv rank) throws Exception {
    try (DDStore store = rank.open()) {
      Variable x = store.add("x", Tensor.wrap(new long[] {1, 1}));
      Variable y = store.add("y", Tensor.wrap(new long[] {1}));
      if (rank.rank() == LOST) {
        StoreAccess.beginChange(x);
        rank.meet();
        rank.group().exchange("epochBegin()", () -> new byte[] {1}); // changes the first variable
        Runtime.getRuntime().halt(9);
      }
      store.update("x", Tensor.wrap(new long[] {2}), 0);
      try (Reader reader = x.reader()) {
        CompletableFuture<Throwable> waiting =
            CompletableFuture.supplyAsync(() -> failureOf(reader, x.firstRowOf(LOST)));
        rank.meet();
        assertThatThrownBy(store::epochBegin)
            .isInstanceOfSatisfying(
                RankLostException.class, e -> assertThat(e.rank()).isEqualTo(LOST));
        assertThat(waiting.get(30, TimeUnit.SECONDS))
            .as("the read that was waiting")
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("close the store and load the rows again");
        assertThatThrownBy(() -> reader.getBatch(0).close())
            .as("rows of a survivor, which are new, beside old ones")
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("rows of \"x\" are unreadable")
            .hasCauseInstanceOf(RankLostException.class);
      }
      assertThat(y.version()).isZero();
      try (Batch batch = store.getBatch("y", 0, 1, 2)) {
        assertThat(batch.field("y").toLongArray()).containsOnly(1);
      }
    }
    sweep(rank);
  }

  private static Throwable failureOf(Reader reader, long row) {
    try {
      while (true) {
        reader.getBatch(row).close();
      }
    } catch (DDStoreException e) {
      return e;
    }
  }

  private static void sweep(RankEnv rank) {
    try (var alone = LocalGroup.create(1, Duration.ofSeconds(5)).get(0);
        DDStore store = DDStore.open(alone, rank.options())) {
      store.init("x", 1, org.ddstore.types.DType.BOOL);
      assertThat(List.of(store.info().variables().get(0).rows())).containsExactly(1L);
    }
  }

  private static void startAgain(RankEnv rank) {
    try (DDStore store = rank.open()) {
      Rows.addLongs(store, "x", 2);
      long[] indices = Rows.shuffledTwice(Rows.first(3), 4);
      try (Batch batch = store.getBatch("x", indices)) {
        assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(2, indices));
      }
    }
  }
}
