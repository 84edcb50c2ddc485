package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.ReadPath;
import org.ddstore.Reader;
import org.ddstore.mpi.NeedsMpi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stores that read by MPI, in executors that Spark started: 3 with a rank each. */
@Tag("system")
@NeedsMpi
@Timeout(300)
class MpiOnExecutorsTest {
  private static final int RANKS = 3;
  private static final int ROWS = 2000;
  private static final long SUM = ROWS * (ROWS - 1L) / 2;

  private static TestCluster cluster;

  @TempDir Path directory;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(RANKS, 1, 512);
    // The first store decides who is in the world.
    numbers().run(MpiOnExecutorsTest::readAll);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** The world stays, with its threads and its directory; stores and their memory do not. */
  @AfterEach
  void noMemoryIsLeft() {
    for (Leftovers left : cluster.inEverySlot(rows -> Leftovers.ofThisProcess())) {
      assertThat(left.bufferBytes()).as("off-heap bytes of %d", left.pid()).isZero();
      assertThat(left.mappedBytes()).as("mapped bytes of %d", left.pid()).isZero();
    }
  }

  private static StoreSpec numbers() {
    Dataset<Row> frame = cluster.session().range(ROWS).selectExpr("id", "concat('t', id) as t");
    return DDStores.from(frame)
        .ranks(RANKS)
        .transport("mpi")
        .shortcut(false)
        .collectiveTimeout(Duration.ofMinutes(1));
  }

  /** Reads every row by MPI and fails if one is wrong. */
  private static long readAll(RankContext context) {
    long sum = 0;
    try (Reader reader = context.rows().reader()) {
      for (int first = 0; first < ROWS; first += 100) {
        long[] indices = new long[100];
        for (int i = 0; i < indices.length; i++) {
          indices[i] = (first + i * 37L) % ROWS;
        }
        try (Batch batch = reader.getBatch(indices)) {
          for (int i = 0; i < indices.length; i++) {
            long id = batch.field("id").getLong(i);
            if (id != indices[i] || !batch.string("t", i).equals("t" + id)) {
              throw new AssertionError("row " + indices[i] + " is " + id);
            }
            sum += id;
          }
        }
      }
      if (reader.statistics(ReadPath.REMOTE).rows() != ROWS || !isMpi(context)) {
        throw new AssertionError("not all rows came by MPI: " + context.transport());
      }
    }
    return sum;
  }

  private static boolean isMpi(RankContext context) {
    return context.transport().startsWith("mpi, Open MPI 4");
  }

  private static String pid() {
    return Long.toString(ProcessHandle.current().pid());
  }

  @Test
  void storesComeAndGoInOneWorld() {
    for (int store = 0; store < 3; store++) {
      Set<Long> before = cluster.executors();
      List<Long> sums = numbers().run(MpiOnExecutorsTest::readAll);
      assertThat(sums).isEqualTo(Collections.nCopies(RANKS, SUM));
      assertThat(cluster.executors()).as("executors").isEqualTo(before);
    }
  }

  @Test
  void aSmallerStoreUsesAPartOfTheWorld() {
    assertThat(numbers().run(MpiOnExecutorsTest::readAll)).hasSize(RANKS);
    assertThat(numbers().ranks(2).run(MpiOnExecutorsTest::readAll)).containsExactly(SUM, SUM);
  }

  @Test
  void replicaGroupsCopyByTcpAndReadByMpi() {
    assertThat(numbers().ranks(2).width(1).run(MpiOnExecutorsTest::readAll))
        .containsExactly(SUM, SUM);
  }

  @Test
  void aTaskThatFailsIsRepeatedInTheSameExecutors() {
    Evidence evidence = new Evidence(directory);
    List<String> results =
        numbers()
            .run(
                context -> {
                  evidence.note(context.attempt() + "." + context.rank(), pid());
                  readAll(context);
                  if (context.attempt() == 1 && context.rank() == 1) {
                    throw new IllegalStateException("once");
                  }
                  return context.attempt() + ":" + readAll(context);
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

  @Test
  void afterAKillAllExecutorsAreReplaced() throws Exception {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Long>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .run(
                        context -> {
                          evidence.note(context.attempt() + "." + context.rank(), pid());
                          while (context.attempt() == 1 && !Thread.interrupted()) {
                            readAll(context);
                          }
                          return readAll(context);
                        }));
    long victim = evidence.awaitPid("1.1");
    Set<Long> before = cluster.executors();
    assertThat(before).contains(victim);
    ProcessHandle.of(victim).orElseThrow().destroyForcibly();

    assertThat(job.get(4, TimeUnit.MINUTES)).isEqualTo(Collections.nCopies(RANKS, SUM));
    assertThat(cluster.executors()).as("executors").doesNotContainAnyElementsOf(before);
  }

  @Test
  void aLossInTheOnlyAttemptSaysThatMembershipIsFrozen() {
    assertThatThrownBy(
            () ->
                numbers()
                    .maxAttempts(1)
                    .run(
                        context -> {
                          readAll(context);
                          if (context.rank() == 1) {
                            Runtime.getRuntime().halt(4);
                          }
                          while (!Thread.interrupted()) {
                            readAll(context);
                          }
                          return 0;
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("members for good");
    // What is left of the world is replaced before the next store.
    assertThat(numbers().run(MpiOnExecutorsTest::readAll))
        .isEqualTo(Collections.nCopies(RANKS, SUM));
  }
}
