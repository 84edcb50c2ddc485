// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.types.StoreJobException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Executors that are killed, and jobs that are cancelled, while loaders of 4 ranks work ahead. */
@Tag("system")
@Timeout(300)
@Tag("slow")
@Tag("always")
class LoaderLossTest extends OnTwoExecutors {
  private static final int VICTIM_RANK = 3;
  private static final int STEPS_BEFORE = 5;

  private static StoreSpec numbers() {
    return DDStores.from(cluster.session().range(ROWS).selectExpr("id", "id * id as square"))
        .ranks(4)
        .collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  private static BatchSampler everyRow() {
    return Samplers.shuffled(42).globalBatchSize(64).everySample();
  }

  /** Trains without an end, all ranks in step, and notes when it is well under way. */
  private static int trainForever(RankContext context, Evidence evidence) {
    evidence.note("pid of " + context.rank(), ProcessHandle.current().pid());
    Loader loader = context.loader(everyRow(), LoaderOptions.defaults().depth(8));
    long steps = 0;
    for (int epoch = 0; ; epoch++) {
      for (LoadedBatch batch : loader.epoch(epoch)) {
        step(context, batch);
        if (++steps == STEPS_BEFORE) {
          evidence.note("rank " + context.rank() + " trains", steps);
        }
      }
    }
  }

  private static void step(RankContext context, LoadedBatch batch) {
    long[] gradient = new long[1];
    for (int i = 0; i < batch.rows(); i++) {
      long id = batch.row(i);
      assertThat(batch.field("square").getLong(i)).isEqualTo(id * id);
      gradient[0] += id;
    }
    context.communicator().allReduce(gradient, ReduceOp.SUM);
  }

  private static String wholeEpoch(RankContext context) {
    Loader loader = context.loader(everyRow());
    loader.epoch(0).forEach(batch -> step(context, batch));
    return loader.receipt(context.communicator()).toString();
  }

  private static void awaitTraining(Evidence evidence) {
    for (int rank = 0; rank < 4; rank++) {
      evidence.awaitNote("rank " + rank + " trains");
    }
  }

  private static long killOne(Evidence evidence) {
    awaitTraining(evidence);
    long victim = evidence.awaitPid("pid of " + VICTIM_RANK);
    kill(victim);
    return victim;
  }

  /** The batches that are being made need rows of the dead. */
  @Test
  void repeatsTheEpochAfterALoss() throws Exception {
    repeatsTheEpochAfterALoss(false);
  }

  @Test
  void repeatsTheEpochAfterALossWithTheShortcut() throws Exception {
    repeatsTheEpochAfterALoss(true);
  }

  private void repeatsTheEpochAfterALoss(boolean shortcut) throws Exception {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<String>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .shortcut(shortcut)
                    .run(
                        context ->
                            context.attempt() == 1
                                ? "" + trainForever(context, evidence)
                                : wholeEpoch(context)));
    long victim = killOne(evidence);

    assertThat(job.get(2, TimeUnit.MINUTES))
        .as("receipts of the second attempt")
        .isEqualTo(
            Collections.nCopies(
                4, "2,000 samples, each exactly once; 2,000 delivered, 0 dropped, 0 padded"));
    assertThat(cluster.executors()).as("executors").doesNotContain(victim);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void reportsALossInTheOnlyAttempt(boolean shortcut) {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Integer>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .maxAttempts(1)
                    .shortcut(shortcut)
                    .run(context -> trainForever(context, evidence)));
    killOne(evidence);

    assertThatThrownBy(() -> job.get(WELL_BELOW_TIMEOUT.toSeconds(), TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("attempt 1 of 1 on 4 ranks failed: rank ");
  }

  @Test
  void cancellationEndsTheLoaders() {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Integer>> job =
        CompletableFuture.supplyAsync(
            () -> numbers().run(context -> trainForever(context, evidence)));
    awaitTraining(evidence);
    cluster.session().sparkContext().cancelAllJobs();

    assertThatThrownBy(() -> job.get(WELL_BELOW_TIMEOUT.toSeconds(), TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("was cancelled");
  }
}
