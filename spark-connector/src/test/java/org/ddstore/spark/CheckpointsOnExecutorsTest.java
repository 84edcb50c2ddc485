// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.ddstore.checkpoint.Checkpoint;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.checkpoint.Saving;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.EpochsLoop;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.types.StoreJobException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A training on executors that resumes from its checkpoints. */
@Tag("system")
@Timeout(300)
class CheckpointsOnExecutorsTest extends OnTwoExecutors {
  private static final int EPOCHS = 3;
  private static final int GLOBAL_BATCH = 100; // 20 batches in an epoch
  private static final int STOP = 27; // batches
  private static final long ALL = EPOCHS * SUM;
  private static final String RECEIPT =
      "2,000 samples, each exactly once; 2,000 delivered, 0 dropped, 0 padded";

  private static StoreSpec rows(int ranks) {
    return DDStores.from(numberedRows()).ranks(ranks).collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  private String checkpoints() {
    return directory.resolve("checkpoints").toUri().toString();
  }

  /** The sum of the ids over all batches and ranks, which is the model; and the receipts. */
  private record Trained(long model, long batches, List<String> receipts) implements Serializable {}

  /** The interruption before each step. */
  private interface Interruption extends Serializable {
    void before(RankContext rank, long step);
  }

  private static Trained train(RankContext rank, String directory, Interruption interruption) {
    long[] model = {0, 0}; // sum, steps
    List<String> receipts = new ArrayList<>();
    Checkpoints checkpoints =
        rank.checkpoints(directory, CheckpointOptions.defaults().keep(2).chunkSize(4096));
    Optional<Checkpoint> saved = checkpoints.latest();
    if (saved.isPresent()) {
      ByteBuffer bytes = ByteBuffer.wrap(saved.get().bytes("model"));
      model[0] = bytes.getLong();
      model[1] = bytes.getLong();
    }
    long begun = model[1];
    Loader loader = rank.loader(Samplers.shuffled(42).globalBatchSize(GLOBAL_BATCH).everySample());
    EpochsLoop epochs =
        loader
            .epochs(EPOCHS, saved)
            .afterEpoch(epoch -> receipts.add(loader.receipt(rank.communicator()).toString()));
    for (LoadedBatch batch : epochs) {
      interruption.before(rank, model[1]);
      long[] sum = new long[1];
      for (int i = 0; i < batch.samples(); i++) {
        sum[0] += batch.field("id").getLong(i);
      }
      rank.communicator().allReduce(sum, ReduceOp.SUM);
      model[0] += sum[0];
      model[1]++;
      if (model[1] % 5 == 0) {
        byte[] bytes = ByteBuffer.allocate(16).putLong(model[0]).putLong(model[1]).array();
        checkpoints.save(loader.state(), "model", out -> out.write(bytes));
      }
    }
    return new Trained(model[0], model[1] - begun, receipts);
  }

  @Test
  void anotherNumberOfRanksContinuesTheTraining() {
    String directory = checkpoints();
    List<Integer> stopped =
        rows(2)
            .run(
                rank -> {
                  Checkpoints checkpoints = rank.checkpoints(directory);
                  Loader loader =
                      rank.loader(
                          Samplers.shuffled(42).globalBatchSize(GLOBAL_BATCH).everySample());
                  long[] model = {0, 0};
                  for (LoadedBatch batch : loader.epochs(EPOCHS)) {
                    long[] sum = new long[1];
                    for (int i = 0; i < batch.samples(); i++) {
                      sum[0] += batch.field("id").getLong(i);
                    }
                    rank.communicator().allReduce(sum, ReduceOp.SUM);
                    model[0] += sum[0];
                    if (++model[1] == STOP) {
                      break;
                    }
                  }
                  byte[] bytes =
                      ByteBuffer.allocate(16).putLong(model[0]).putLong(model[1]).array();
                  checkpoints.save(loader.state(), "model", out -> out.write(bytes));
                  return rank.ranks(); // the end of the task waits for the save
                });
    assertThat(stopped).containsExactly(2, 2);
    List<Trained> rest = rows(3).run(rank -> train(rank, directory, (r, step) -> {}));
    assertThat(rest).hasSize(3);
    assertThat(rest)
        .allSatisfy(
            rank -> {
              assertThat(rank.model()).isEqualTo(ALL);
              assertThat(rank.batches()).isEqualTo(EPOCHS * ROWS / GLOBAL_BATCH - STOP);
              assertThat(rank.receipts()).containsExactly(RECEIPT, RECEIPT);
            });
  }

  @Test
  void theNextAttemptContinuesAfterAKilledExecutor() throws Exception {
    String directory = checkpoints();
    Evidence evidence = new Evidence(this.directory);
    CompletableFuture<List<Trained>> job =
        CompletableFuture.supplyAsync(
            () ->
                rows(4)
                    .run(
                        rank -> {
                          evidence.note("pid of " + rank.rank(), ProcessHandle.current().pid());
                          return train(
                              rank,
                              directory,
                              (r, step) -> {
                                if (r.attempt() == 1 && step == STOP) {
                                  evidence.note("rank " + r.rank() + " stops", step);
                                  while (true) {
                                    r.communicator().barrier(); // until the executor is killed
                                  }
                                }
                              });
                        }));
    evidence.awaitNote("rank 3 stops");
    kill(evidence.awaitPid("pid of 3"));
    List<Trained> trained = job.get(2, TimeUnit.MINUTES);
    assertThat(trained)
        .allSatisfy(
            rank -> {
              assertThat(rank.model()).isEqualTo(ALL);
              assertThat(rank.batches())
                  .as("without the steps before the last checkpoint")
                  .isBetween(EPOCHS * 20L - STOP, EPOCHS * 20L - 20);
              assertThat(rank.receipts())
                  .as("again that of epoch 0 if its last batch was saved last")
                  .hasSize(rank.batches() == EPOCHS * 20L - 20 ? EPOCHS : EPOCHS - 1)
                  .containsOnly(RECEIPT);
            });
  }

  @Test
  void aPathThatCannotBeWrittenEndsTheJobWithItsName() {
    String missing = directory.resolve("mount/checkpoints").toUri().toString();
    assertThatThrownBy(
            () ->
                rows(2)
                    .maxAttempts(1)
                    .run(
                        rank -> {
                          Loader loader = rank.loader(Samplers.shuffled(1).globalBatchSize(10));
                          CheckpointOptions options =
                              CheckpointOptions.defaults().saving(Saving.SYNCHRONOUS);
                          rank.checkpoints(missing, options).save(loader.state(), to -> {});
                          return 0;
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("no checkpoint was saved to " + directory.resolve("mount"))
        .hasMessageContaining("no such file or directory");
    assertThatThrownBy(
            () ->
                rows(2).maxAttempts(1).run(rank -> rank.checkpoints("unknown://host/path") == null))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("cannot open unknown://host/path for checkpoints");
    Evidence evidence = new Evidence(this.directory);
    assertThatThrownBy(
            () ->
                rows(2)
                    .maxAttempts(3)
                    .run(
                        rank -> {
                          evidence.note("attempt " + rank.attempt() + " of " + rank.rank(), 0);
                          return rank.checkpoints(" ") == null;
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("directory of checkpoints is \" \"");
    assertThat(this.directory).isDirectoryNotContaining("glob:**attempt 2*");
  }
}
