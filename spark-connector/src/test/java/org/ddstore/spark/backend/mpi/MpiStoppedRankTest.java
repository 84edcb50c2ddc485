// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.ddstore.Reader;
import org.ddstore.contract.Stopped;
import org.ddstore.mpi.NeedsMpi;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An executor that SIGSTOP holds while others of its host read from it by MPI: their reads need no
 * help of it, and go on. Spark misses it first, and all of its world are replaced.
 */
@Tag("system")
@NeedsMpi
@Timeout(400)
@Tag("slow")
@Tag("always")
class MpiStoppedRankTest extends OnTestCluster {
  private static final int RANKS = 2;
  private static final Duration TO_END = Duration.ofMinutes(1);

  @BeforeAll
  static void start() {
    cluster =
        TestCluster.start(
            RANKS,
            1,
            512,
            Map.of(
                "spark.executor.heartbeatInterval", "5s",
                "spark.network.timeout", "30s",
                "spark.network.timeoutInterval", "5s"));
  }

  @Test
  void jobSucceedsOnFreshExecutors() throws Exception {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Long>> job =
        CompletableFuture.supplyAsync(
            () ->
                DDStores.from(numberedRows())
                    .ranks(RANKS)
                    .transport("mpi")
                    .shortcut(false)
                    .readTimeout(Duration.ofSeconds(5))
                    .collectiveTimeout(COLLECTIVE_TIMEOUT)
                    .run(context -> readOften(context, evidence)));
    evidence.awaitNote("reading 0");
    long pid = evidence.awaitPid("reading 1");
    Set<Long> before = cluster.executors();
    assertThat(before).contains(pid);
    ProcessHandle process = ProcessHandle.of(pid).orElseThrow();
    try (Stopped stopped = Stopped.stop(process)) {
      assertThat(job.get(5, TimeUnit.MINUTES)).isEqualTo(Collections.nCopies(RANKS, SUM));
      assertThat(stopped).isNotNull();
      await("the stopped executor is killed").atMost(TO_END).until(() -> !process.isAlive());
      assertThat(cluster.executors()).as("executors").doesNotContainAnyElementsOf(before);
    }
  }

  private static long readOften(RankContext context, Evidence evidence) {
    try (Reader reader = context.rows().reader()) {
      readAll(reader);
      if (context.attempt() == 1) {
        evidence.note("reading " + context.rank(), ProcessHandle.current().pid());
      }
      while (context.attempt() == 1 && !Thread.interrupted()) {
        readAll(reader);
      }
      return readAll(reader);
    }
  }
}
