// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.Samplers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs whose ranks read several stores: training and test rows. */
@Tag("system")
@Timeout(300)
class StoresRunTest extends OnResidentCluster {
  private static final int TRAIN = 400;
  private static final int TEST = 90;

  private static Dataset<Row> frame(long from, long to) {
    return cluster.session().range(from, to, 1, 3).selectExpr("id", "id * id as square");
  }

  private static ResidentStore load(String name, long from, long to, int ranks) {
    return DDStores.from(frame(from, to)).ranks(ranks).load(name);
  }

  /** Sum of the ids of one epoch over all ranks; checks the other column and the receipt. */
  private static long epoch(RankContext context, Loader loader) {
    long[] sum = {0};
    for (LoadedBatch batch : loader.epoch(0)) {
      try (batch) {
        for (int i = 0; i < batch.rows(); i++) {
          long id = batch.field("id").getLong(i);
          assertThat(batch.field("square").getLong(i)).isEqualTo(id * id);
          sum[0] += id;
        }
      }
    }
    assertThat(loader.receipt(context.communicator()).toString()).contains("each exactly once");
    context.communicator().allReduce(sum, ReduceOp.SUM);
    return sum[0];
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void eachRankReadsAllStores(boolean shortcut) {
    ResidentStore train = load("train", 0, TRAIN, 4);
    ResidentStore test =
        DDStores.from(frame(TRAIN, TRAIN + TEST)).ranks(4).shortcut(shortcut).load("test");

    List<List<Long>> sums =
        DDStores.run(
            List.of(train, test),
            context -> {
              long all = 0;
              try (Reader reader = context.rows("test").reader("id")) {
                for (long row = 0; row < TEST; row += 9) {
                  try (Batch batch = reader.getBatch(row)) {
                    all += batch.field("id").getLong(0) - row;
                  }
                }
              }
              assertThat(context.rows("train")).isSameAs(context.rows());
              assertThat(context.isHome()).isTrue();
              Loader trainer = context.loader(Samplers.shuffled(7).globalBatchSize(40));
              Loader tester =
                  context.loader(
                      "test", Samplers.sequential().globalBatchSize(30), LoaderOptions.defaults());
              return List.of(all, epoch(context, trainer), epoch(context, tester));
            });

    long sumOfAll = (TRAIN + TEST) * (TRAIN + TEST - 1L) / 2;
    long sumOfTrain = TRAIN * (TRAIN - 1L) / 2;
    assertThat(sums)
        .hasSize(4)
        .containsOnly(List.of(10L * TRAIN, sumOfTrain, sumOfAll - sumOfTrain));
  }

  @Test
  void storesThatDoNotFitAreNamed() {
    ResidentStore train = load("train", 0, TRAIN, 4);
    ResidentStore test = load("test", 0, TEST, 2);
    RankTask<Integer> none = context -> 0;
    assertThatThrownBy(() -> DDStores.run(List.of(train, test), none))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("store \"train\" has 4 ranks, store \"test\" has 2: load both with ranks(4)");
    assertThatThrownBy(() -> DDStores.run(List.of(train, train), none))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"train\" is in the list twice");
    assertThatThrownBy(() -> DDStores.run(List.of(), none))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("give at least one");
    assertThatThrownBy(() -> train.run(context -> context.rows("test").rows()))
        .hasStackTraceContaining("the job does not read store \"test\"")
        .hasStackTraceContaining("stores of the job: [train]");
    assertThatThrownBy(() -> DDStores.from(frame(0, 9)).ranks(2).run(c -> c.rows("train").rows()))
        .hasStackTraceContaining("stores of the job: []");
    test.drop();
    assertThatThrownBy(() -> DDStores.run(List.of(train, test), none))
        .isInstanceOf(IllegalStateException.class);
    assertThat(DDStores.run(List.of(train), context -> context.rows("train").rows()))
        .containsOnly((long) TRAIN);
  }
}
