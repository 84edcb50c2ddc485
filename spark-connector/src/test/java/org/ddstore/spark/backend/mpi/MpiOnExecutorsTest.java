// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.mpi.Mpi;
import org.ddstore.mpi.MpiOptions;
import org.ddstore.mpi.MpiTransport;
import org.ddstore.mpi.NeedsMpi;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.LogTap;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stores that read by MPI, in executors that Spark started: 3 with a rank each. */
@Tag("system")
@NeedsMpi
@Timeout(300)
@Tag("always")
class MpiOnExecutorsTest extends OnTestCluster {
  private static final int RANKS = 3;
  private static final int TURNS = 3;
  private static final int WORDS = 50;
  private static final Duration READ_ON = Duration.ofSeconds(1);

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(RANKS, 1, 512);
    // The first store decides which executors are in the world.
    numbers().run(MpiOnExecutorsTest::readAllByMpi);
  }

  /** The world stays, with its threads and its directory; stores and their memory do not. */
  @AfterEach
  void assertNoMemoryLeft() {
    await("memory of stores is given back")
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () -> {
              for (Leftovers left : cluster.inEverySlot(rows -> Leftovers.ofThisProcess())) {
                assertThat(left.bufferBytes()).as("off-heap bytes of %d", left.pid()).isZero();
                assertThat(left.mappedBytes()).as("mapped bytes of %d", left.pid()).isZero();
              }
            });
  }

  private static StoreSpec numbers() {
    return DDStores.from(numberedRows())
        .ranks(RANKS)
        .transport("mpi")
        .shortcut(false)
        .collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  /** Reads every row and fails if one is wrong, or has not come by MPI. */
  private static long readAllByMpi(RankContext context) {
    try (Reader reader = context.rows().reader()) {
      long sum = readAll(reader);
      if (reader.statistics(ReadPath.REMOTE).rows() != ROWS || !isMpi(context)) {
        throw new AssertionError("not all rows came by MPI: " + context.transport());
      }
      return sum;
    }
  }

  private static boolean isMpi(RankContext context) {
    return context.transport().startsWith("mpi, Open MPI 4");
  }

  private static String pid() {
    return Long.toString(ProcessHandle.current().pid());
  }

  @Test
  void opensStoresInTurnInOneWorld() {
    for (int store = 0; store < 3; store++) {
      Set<Long> before = cluster.executors();
      List<Long> sums = numbers().maxAttempts(1).run(MpiOnExecutorsTest::readAllByMpi);
      assertThat(sums).isEqualTo(Collections.nCopies(RANKS, SUM));
      assertThat(cluster.executors()).as("executors").isEqualTo(before);
    }
  }

  @Test
  void readsTwoStoresInTurnsInTheSameExecutors() {
    assertThat(numbers().run(MpiOnExecutorsTest::readTwoStoresInTurns))
        .isEqualTo(Collections.nCopies(RANKS, SUM * TURNS));
  }

  /** Beside the store of the job a second one, of this task's own, with windows of its own. */
  private static long readTwoStoresInTurns(RankContext context) {
    Communicator ranks = context.communicator();
    MpiOptions options =
        new MpiOptions(
            new ProcessAddress("127.0.0.1", 1, context.rank()),
            ProcessDirectory.SHARED_MEMORY,
            COLLECTIVE_TIMEOUT,
            COLLECTIVE_TIMEOUT);
    long sum = 0;
    try (MpiTransport mpi = Mpi.join(ranks, 0, options);
        Communicator others = ranks.split(0);
        DDStore second = DDStore.open(others, mpi, StoreOptions.defaults().shortcut(false))) {
      second.add("y", Tensor.wrap(words(context.rank()), WORDS, WORDS));
      try (Reader reader = second.variable("y").reader()) {
        for (int turn = 0; turn < TURNS; turn++) {
          sum += readAllByMpi(context);
          for (int rank = 0; rank < RANKS; rank++) {
            checkWords(reader, rank);
          }
        }
        if (reader.statistics(ReadPath.REMOTE).rows() != (long) TURNS * RANKS * WORDS) {
          throw new AssertionError("not all words came by MPI");
        }
      }
      ranks.barrier(); // no rank closes while others read
    }
    return sum;
  }

  /** {@link #WORDS} rows of {@link #WORDS} words each. */
  private static long[] words(int rank) {
    return new Random(rank).longs((long) WORDS * WORDS).toArray();
  }

  private static void checkWords(Reader reader, int rank) {
    long first = (long) rank * WORDS;
    try (Batch batch = reader.getBatch(LongStream.range(first, first + WORDS).toArray())) {
      if (!Arrays.equals(batch.field("y").toLongArray(), words(rank))) {
        throw new AssertionError("other words than rank %d has given".formatted(rank));
      }
    }
  }

  @Test
  void smallerStoreUsesAPartOfTheWorld() {
    assertThat(numbers().run(MpiOnExecutorsTest::readAllByMpi)).hasSize(RANKS);
    assertThat(numbers().ranks(2).run(MpiOnExecutorsTest::readAllByMpi)).containsExactly(SUM, SUM);
  }

  @Test
  void replicaGroupsCopyByTcpAndReadByMpi() {
    assertThat(numbers().ranks(2).width(1).maxAttempts(1).run(MpiOnExecutorsTest::readAllByMpi))
        .containsExactly(SUM, SUM);
  }

  @Test
  void retriesAFailedTaskInTheSameExecutors() {
    Evidence evidence = new Evidence(directory);
    List<String> results =
        numbers()
            .run(
                context -> {
                  evidence.note(context.attempt() + "." + context.rank(), pid());
                  readAllByMpi(context);
                  if (context.attempt() == 1 && context.rank() == 1) {
                    throw new IllegalStateException("once");
                  }
                  return context.attempt() + ":" + readAllByMpi(context);
                });

    assertThat(results).isEqualTo(Collections.nCopies(RANKS, "2:" + SUM));
    for (int attempt = 1; attempt <= 2; attempt++) {
      for (int rank = 0; rank < RANKS; rank++) {
        assertThat(cluster.executors())
            .as("executors, of which rank %d of attempt %d had one", rank, attempt)
            .contains(evidence.awaitPid(attempt + "." + rank));
      }
    }
  }

  /** A failed rank does not wait for those who read on, and does not break their world. */
  @Test
  void retriesATaskThatFailsWhileOthersRead() {
    Evidence evidence = new Evidence(directory);
    Set<Long> before = cluster.executors();
    List<String> results =
        numbers()
            .run(
                context -> {
                  if (context.attempt() == 1) {
                    failOrReadOn(context, evidence);
                  }
                  return context.attempt() + ":" + readAllByMpi(context);
                });

    assertThat(results).isEqualTo(Collections.nCopies(RANKS, "2:" + SUM));
    assertThat(cluster.executors()).as("executors").isEqualTo(before);
    assertThat(evidence.read("0 read on")).as("reads of rank 0 after the failure").isNotNull();
    assertThat(evidence.read("2 read on")).as("reads of rank 2 after the failure").isNotNull();
  }

  /** Reads by a thread of its own, which Spark does not interrupt. */
  private static void failOrReadOn(RankContext context, Evidence evidence) {
    readAllByMpi(context);
    if (context.rank() == 1) {
      evidence.note("failed", "");
      throw new IllegalStateException("once");
    }
    CompletableFuture<Void> reads =
        CompletableFuture.runAsync(
            () -> {
              evidence.awaitNote("failed");
              long untilNs = System.nanoTime() + READ_ON.toNanos();
              while (System.nanoTime() < untilNs) {
                readAllByMpi(context);
              }
              evidence.note(context.rank() + " read on", "");
            });
    reads.join();
  }

  @Test
  @Tag("slow")
  void replacesAllExecutorsAfterAKill() throws Exception {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Long>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .run(
                        context -> {
                          evidence.note(context.attempt() + "." + context.rank(), pid());
                          while (context.attempt() == 1 && !Thread.interrupted()) {
                            readAllByMpi(context);
                          }
                          return readAllByMpi(context);
                        }));
    long victim = evidence.awaitPid("1.1");
    Set<Long> before = cluster.executors();
    kill(victim);

    assertThat(job.get(4, TimeUnit.MINUTES)).isEqualTo(Collections.nCopies(RANKS, SUM));
    assertThat(cluster.executors()).as("executors").doesNotContainAnyElementsOf(before);
  }

  @Test
  @Tag("slow")
  void lossInTheOnlyAttemptReportsFrozenMembership() {
    Evidence evidence = new Evidence(directory);
    Set<Long> before = cluster.executors();
    CompletableFuture<List<Long>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .maxAttempts(1)
                    .run(
                        context -> {
                          readAllByMpi(context);
                          evidence.note("reading " + context.rank(), pid());
                          while (!Thread.interrupted()) {
                            readAllByMpi(context);
                          }
                          return 0L;
                        }));
    kill(evidence.awaitPid("reading 1"));

    assertThatThrownBy(() -> job.get(4, TimeUnit.MINUTES))
        .cause()
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("attempt 1 of 1")
        .hasMessageContaining("MPI membership is frozen");
    // Executors that stayed would hold shards of the old world and could start no other store.
    assertThat(cluster.executors()).as("executors").doesNotContainAnyElementsOf(before);
    assertThat(numbers().maxAttempts(1).run(MpiOnExecutorsTest::readAllByMpi))
        .isEqualTo(Collections.nCopies(RANKS, SUM));
  }

  /** Also the one that had no rank in the store that lost one: it is a member, too. */
  @Test
  @Tag("slow")
  void lossInASmallerStoreReplacesTheWholeWorld() throws Exception {
    assertThat(numbers().run(MpiOnExecutorsTest::readAllByMpi)).hasSize(RANKS);
    Evidence evidence = new Evidence(directory);
    Set<Long> before = cluster.executors();
    CompletableFuture<List<Long>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .ranks(2)
                    .run(
                        context -> {
                          evidence.note(context.attempt() + "." + context.rank(), pid());
                          while (context.attempt() == 1 && !Thread.interrupted()) {
                            readAllByMpi(context);
                          }
                          return readAllByMpi(context);
                        }));
    kill(evidence.awaitPid("1.1"));

    assertThat(job.get(4, TimeUnit.MINUTES)).containsExactly(SUM, SUM);
    assertThat(cluster.executors()).as("executors").doesNotContainAnyElementsOf(before);
    // One of them is not in the world of the two others now: it is made whole again.
    assertThat(numbers().run(MpiOnExecutorsTest::readAllByMpi))
        .isEqualTo(Collections.nCopies(RANKS, SUM));
  }

  /** No rank is notified of it; the next store detects the missing member. */
  @Test
  @Tag("slow")
  void lossBetweenStoresCostsNoAttempt() {
    assertThat(numbers().run(MpiOnExecutorsTest::readAllByMpi)).hasSize(RANKS);
    Set<Long> before = cluster.executors();
    Set<String> ids = executorIds();
    kill(before.iterator().next());
    await("the driver knows")
        .atMost(Duration.ofMinutes(1))
        .until(() -> !executorIds().containsAll(ids));

    assertThat(numbers().maxAttempts(1).run(MpiOnExecutorsTest::readAllByMpi))
        .isEqualTo(Collections.nCopies(RANKS, SUM));
    assertThat(cluster.executors()).as("executors").doesNotContainAnyElementsOf(before);
  }

  @Test
  @Tag("slow")
  void shardsOfReplacedExecutorsAreLoggedAndReloaded() {
    assertThat(numbers().run(MpiOnExecutorsTest::readAllByMpi)).hasSize(RANKS);
    ResidentStore store = DDStores.from(numberedRows()).ranks(RANKS).width(1).load("copies");
    try (LogTap log = LogTap.open()) {
      Set<String> ids = executorIds();
      kill(cluster.executors().iterator().next());
      await("the driver knows")
          .atMost(Duration.ofMinutes(1))
          .until(() -> !executorIds().containsAll(ids));
      assertThat(numbers().maxAttempts(1).run(MpiOnExecutorsTest::readAllByMpi)).hasSize(RANKS);

      assertThat(log.of(WorldReplacement.class))
          .hasSize(2)
          .last()
          .asString()
          .matches(
              "executors \\[\\d+, \\d+] are replaced: store \"copies\" loses 2 shards, 2 of them"
                  + " without another copy");
      assertThat(store.run(OnTestCluster::readAll)).isEqualTo(Collections.nCopies(RANKS, SUM));
    } finally {
      store.drop();
    }
  }

  private static Set<String> executorIds() {
    return ClusterFacts.of(cluster.session().sparkContext()).executors().stream()
        .map(ClusterFacts.Executor::id)
        .collect(Collectors.toSet());
  }
}
