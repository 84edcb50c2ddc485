package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.DDStoreException;
import org.ddstore.FrozenMembershipException;
import org.ddstore.ProcessAddress;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.ProcessDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may be in a world, and several stores in one. */
@Tag("system")
@NeedsMpi
@Timeout(120)
class MpiWorldTest {
  private static final int STORES = 4;

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

  @Test
  void whoWasNotThereAtTheStartIsRefusedByAll() throws Exception {
    try (ProcessRanks processes = world(2)) {
      assertThatThrownBy(() -> processes.run(3, Duration.ofMinutes(1), rank -> {}))
          .hasMessageContaining(FrozenMembershipException.class.getName())
          .hasMessageContaining("no MPI world")
          .hasMessageContaining("replace all executors");
      processes.run(2, Duration.ofMinutes(1), rank -> rank.open().close()); // it goes on
    }
  }

  @Test
  void ranksOfOneProcessAreRefused() {
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
