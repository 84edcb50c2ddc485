// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.FrozenMembershipException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Membership of a world, and several stores in one world. */
@Tag("system")
@NeedsMpi
@Timeout(120)
class MpiWorldTest {
  private static final int STORES = 4;
  private static final int LONG_ROWS = 20;
  private static final int LONG_ROW = 128 << 10; // 1 MiB

  private static ProcessRanks world(int ranks) throws Exception {
    return MpiBackend.world(
        ranks, TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
  }

  @Test
  void storesMayBeOpenAtTheSameTime() throws Exception {
    try (ProcessRanks processes = world(3)) {
      processes.run(3, Duration.ofMinutes(1), MpiWorldTest::useSeveralAtOnce);
    }
  }

  private static void useSeveralAtOnce(RankEnv rank) {
    List<DDStore> stores = new ArrayList<>();
    for (int i = 0; i < STORES; i++) {
      DDStore store = rank.open();
      store.add("x", Tensor.wrap(new long[] {100L * i + rank.rank(), -1}));
      stores.add(store);
    }
    ExecutorService threads = Executors.newFixedThreadPool(STORES);
    try {
      List<CompletableFuture<Void>> reads = new ArrayList<>();
      for (int i = 0; i < STORES; i++) {
        int number = i;
        DDStore store = stores.get(i);
        reads.add(CompletableFuture.runAsync(() -> readOften(store, number), threads));
      }
      reads.forEach(CompletableFuture::join);
    } finally {
      threads.shutdown();
    }
    rank.meet();
    stores.forEach(DDStore::close);
    rank.meet();
  }

  private static void readOften(DDStore store, int number) {
    for (int turn = 0; turn < 300; turn++) {
      try (Batch batch = store.getBatch("x", 4, 0, 2)) {
        assertThat(batch.field("x").toLongArray())
            .containsExactly(100L * number + 2, 100L * number, 100L * number + 1);
      }
    }
  }

  /** Each JVM begins with another one; all have to come to the same order. */
  @Test
  void storesMayBeJoinedAtTheSameTime() throws Exception {
    MpiBackend backend =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks processes = MpiBackend.world(3, backend.root(), backend.lanes())) {
      processes.run(3, Duration.ofMinutes(1), rank -> joinSeveralAtOnce(rank, backend));
    }
  }

  private static void joinSeveralAtOnce(RankEnv rank, MpiBackend backend) throws IOException {
    ProcessDirectory directory = ProcessDirectory.acquire(Path.of(backend.lanes()));
    LaneExchange lanes = LaneExchange.overFiles(directory);
    ExecutorService threads = Executors.newFixedThreadPool(STORES);
    List<Communicator> groups = new ArrayList<>();
    try {
      for (int i = 0; i < STORES; i++) {
        groups.add(FilesBackend.join(lanes, rank.meeting(), Duration.ofMinutes(1)));
      }
      List<CompletableFuture<Void>> stores = new ArrayList<>();
      for (int i = 0; i < STORES; i++) {
        int number = (i + rank.rank()) % STORES;
        stores.add(
            CompletableFuture.runAsync(() -> useOne(groups.get(number), number, rank), threads));
      }
      stores.forEach(CompletableFuture::join);
    } finally {
      threads.shutdown();
      groups.forEach(Communicator::close);
      lanes.close();
      directory.release();
    }
  }

  private static void useOne(Communicator group, int number, RankEnv rank) {
    MpiOptions options = MpiBackend.options(rank.meeting(), ProcessDirectory.SHARED_MEMORY);
    try (MpiTransport mpi = Mpi.join(group, 0, options);
        DDStore store = DDStore.open(group, mpi, rank.options())) {
      store.add("x", Tensor.wrap(new long[] {100L * number + group.rank(), -1}));
      readOften(store, number);
      group.barrier();
    }
  }

  /** More than is outstanding at once, in one run and from two owners. */
  @Test
  void readsALongRunInPieces() throws Exception {
    try (ProcessRanks processes = world(2)) {
      processes.run(
          2,
          Duration.ofMinutes(1),
          rank -> {
            try (DDStore store = rank.open()) {
              store.add("x", Tensor.wrap(numbers(rank.rank()), LONG_ROWS, LONG_ROW));
              long[] all = LongStream.range(0, 2 * LONG_ROWS).toArray();
              try (Batch batch = store.getBatch("x", all)) {
                long[] read = batch.field("x").toLongArray();
                assertThat(Arrays.copyOf(read, read.length / 2)).isEqualTo(numbers(0));
                assertThat(Arrays.copyOfRange(read, read.length / 2, read.length))
                    .isEqualTo(numbers(1));
              }
              rank.group().barrier();
            }
            rank.meet();
          });
    }
  }

  private static long[] numbers(int rank) {
    return LongStream.range(0, (long) LONG_ROWS * LONG_ROW).map(i -> i << 1 | rank).toArray();
  }

  @Test
  void joinFailsOnAllRanksBeforeMpiStartsAndCanBeRetried() throws Exception {
    String root = TestRoots.sharedMemory().toString();
    FilesBackend files = new FilesBackend(Backing.SHM, root, TestRoots.sharedMemory().toString());
    try (ProcessRanks processes = new ProcessRanks(files, List.of(Place.HERE))) {
      processes.run(
          2,
          Duration.ofMinutes(1),
          rank -> {
            Path wrong = Path.of(root, rank.rank() == 1 ? "missing" : ".");
            assertThatThrownBy(
                    () -> Mpi.join(rank.group(), 0, MpiBackend.options(rank.meeting(), wrong)))
                .isInstanceOf(DDStoreException.class)
                .hasMessageContaining("missing");
            Mpi.join(
                    rank.group(),
                    0,
                    MpiBackend.options(rank.meeting(), ProcessDirectory.SHARED_MEMORY))
                .close();
          });
    }
  }

  /** Else the other rank would be alone in MPI_Init, which ends its process. */
  @Test
  void joinCompletesAndKeepsAnInterrupt() throws Exception {
    FilesBackend files =
        new FilesBackend(
            Backing.SHM, TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks processes = new ProcessRanks(files, List.of(Place.HERE))) {
      processes.run(
          2,
          Duration.ofMinutes(1),
          rank -> {
            if (rank.rank() == 1) {
              interruptOnceItJoins(Thread.currentThread());
            }
            MpiTransport mpi =
                Mpi.join(
                    rank.group(),
                    0,
                    MpiBackend.options(rank.meeting(), ProcessDirectory.SHARED_MEMORY));
            assertThat(Thread.interrupted()).as("interrupted").isEqualTo(rank.rank() == 1);
            mpi.close();
          });
    }
  }

  private static void interruptOnceItJoins(Thread caller) {
    Thread watcher =
        new Thread(
            () -> {
              while (Thread.getAllStackTraces().keySet().stream()
                  .noneMatch(thread -> thread.getName().equals("ddstore-mpi-join"))) {
                Thread.onSpinWait();
              }
              caller.interrupt();
            });
    watcher.setDaemon(true);
    watcher.start();
  }

  @Test
  void rejectsAProcessThatMissedTheStart() throws Exception {
    try (ProcessRanks processes = world(2)) {
      assertThatThrownBy(() -> processes.run(3, Duration.ofMinutes(1), rank -> {}))
          .hasMessageContaining(FrozenMembershipException.class.getName())
          .hasMessageContaining("no MPI world")
          .hasMessageContaining("replace all executors");
      processes.run(2, Duration.ofMinutes(1), rank -> rank.open().close()); // it goes on
    }
  }

  @Test
  void rejectsRanksOfOneProcess() {
    List<Communicator> ranks = LocalGroup.create(2, Duration.ofSeconds(30));
    MpiOptions options =
        new MpiOptions(
            new ProcessAddress("127.0.0.1", 1, new SecureRandom().nextLong()),
            ProcessDirectory.SHARED_MEMORY,
            Duration.ofSeconds(30),
            Duration.ofSeconds(30));
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<CompletableFuture<MpiTransport>> joins =
          ranks.stream()
              .map(rank -> CompletableFuture.supplyAsync(() -> Mpi.join(rank, 0, options), threads))
              .toList();
      for (CompletableFuture<MpiTransport> join : joins) {
        assertThatThrownBy(join::join)
            .isInstanceOf(CompletionException.class)
            .hasCauseInstanceOf(DDStoreException.class)
            .hasMessageContaining("ranks 0 and 1 share the JVM")
            .hasMessageContaining("spark.task.cpus equal to spark.executor.cores");
      }
    } finally {
      threads.shutdown();
      ranks.forEach(Communicator::close);
    }
  }
}
