// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.ddstore.checkpoint.Checkpoint;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.OnResidentCluster;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.DumpMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints and dumps of executors on a real HDFS. */
@Tag("system")
@Tag("slow")
@Timeout(300)
class HdfsOnExecutorsTest extends OnResidentCluster {
  private static final int BATCHES = 4; // of 20 in an epoch
  private static final int MODEL_BYTES = 100_000;

  @TempDir static Path folder;

  private static MiniHdfs hdfs;

  @BeforeAll
  static void startHdfs() throws IOException {
    hdfs = MiniHdfs.start(folder);
  }

  @AfterAll
  static void stopHdfs() throws IOException {
    hdfs.close();
  }

  private static StoreSpec rows(int ranks) {
    return DDStores.from(numberedRows()).ranks(ranks).collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  private static Loader loader(RankContext rank) {
    return rank.loader(Samplers.shuffled(42).globalBatchSize(100).everySample());
  }

  private static Checkpoints checkpoints(RankContext rank, String directory) {
    return rank.checkpoints(directory, CheckpointOptions.defaults().chunkSize(1 << 15));
  }

  private static long sum(LoadedBatch batch) {
    long sum = 0;
    for (int i = 0; i < batch.samples(); i++) {
      sum += batch.field("id").getLong(i);
    }
    return sum;
  }

  /** Returns the model of a rank. */
  private static byte[] model(int rank) {
    byte[] model = new byte[MODEL_BYTES];
    Arrays.fill(model, (byte) (rank + 1));
    return model;
  }

  @Test
  void anotherJobLoadsACheckpointOnAnotherNumberOfRanks() throws IOException {
    String directory = hdfs.uri("/training/checkpoints");
    List<Long> begun =
        rows(2)
            .run(
                rank -> {
                  Checkpoints checkpoints = checkpoints(rank, directory);
                  Loader loader = loader(rank);
                  long sum = 0;
                  int batches = 0;
                  for (LoadedBatch batch : loader.epochs(1)) {
                    sum += sum(batch);
                    checkpoints.save(
                        loader.state(),
                        to -> {
                          try (var out = to.writer("rank" + rank.rank())) {
                            out.write(model(rank.rank()));
                          }
                        });
                    if (++batches == BATCHES) {
                      break;
                    }
                  }
                  return sum;
                });
    List<Long> rest =
        rows(3)
            .run(
                rank -> {
                  Optional<Checkpoint> saved = checkpoints(rank, directory).latest();
                  Checkpoint checkpoint = saved.orElseThrow();
                  if (checkpoint.number() != BATCHES
                      || !Arrays.equals(checkpoint.bytes("rank0"), model(0))
                      || !Arrays.equals(checkpoint.bytes("rank1"), model(1))) {
                    throw new AssertionError("wrong content of " + checkpoint);
                  }
                  long sum = 0;
                  for (LoadedBatch batch : loader(rank).epochs(1, saved)) {
                    sum += sum(batch);
                  }
                  long[] all = {sum};
                  rank.communicator().allReduce(all, ReduceOp.SUM);
                  return all[0];
                });
    long before = begun.stream().mapToLong(Long::longValue).sum();
    assertThat(rest).hasSize(3).containsOnly(SUM - before);
    assertThat(hdfs.files().listStatus(new org.apache.hadoop.fs.Path(directory)))
        .as("three manifests, and the chunks of one group of ranks")
        .hasSize(4);
  }

  @Test
  void aDumpIsRestoredOnAnotherNumberOfRanks() {
    ResidentStore store = DDStores.from(numberedRows()).ranks(2).load("first");
    String path = hdfs.uri("/dumps/first");
    DumpInfo info = store.dump(path);
    assertThat(info.digest()).isEqualTo(store.digest());
    ResidentStore restored = DDStores.restore(cluster.session(), path).ranks(3).load("restored");
    assertThat(restored.ranks()).isEqualTo(3);
    assertThat(restored.digest()).isEqualTo(store.digest());
    assertThat(restored.run(OnTestCluster::readAll)).hasSize(3).containsOnly(SUM);

    store.append(
        cluster.session().range(ROWS, ROWS + 9).selectExpr("id", "array(1f, 2f) as x", "'t' as t"));
    assertThatThrownBy(() -> store.dump(path, DumpMode.OVERWRITE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("store \"restored\" was restored from the dump there");
    restored.drop();
    assertThat(store.dump(path, DumpMode.OVERWRITE).rows()).isEqualTo(ROWS + 9);
    assertThat(DDStores.restore(cluster.session(), path).info().digest()).isEqualTo(store.digest());
  }
}
