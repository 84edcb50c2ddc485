// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.ddstore.loader.EpochLoop;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches that ranks of two executors are given by the loaders of their tasks. */
@Tag("system")
@Timeout(300)
class LoaderOnExecutorsTest extends OnTwoExecutors {
  private static final int NUMBERS = 403;
  private static final int GLOBAL_BATCH = 20;

  private static StoreSpec numbers() {
    return DDStores.from(cluster.session().range(NUMBERS).selectExpr("id", "id * id as square"))
        .ranks(4);
  }

  private static BatchSampler everyRow() {
    return Samplers.shuffled(42).globalBatchSize(GLOBAL_BATCH).everySample();
  }

  /**
   * The samples that a rank was given in an epoch.
   *
   * @param batches the rows of each
   */
  private record Epoch(List<List<Long>> batches, boolean isExact, String receipt)
      implements Serializable {}

  private static Epoch epoch(RankContext context) {
    List<List<Long>> batches = new ArrayList<>();
    try (Loader loader = context.loader(everyRow())) {
      for (LoadedBatch batch : loader.epoch(1)) {
        List<Long> rows = new ArrayList<>();
        for (int i = 0; i < batch.samples(); i++) {
          rows.add(batch.field("id").getLong(i));
          assertThat(batch.row(i)).isEqualTo(rows.get(i));
          assertThat(batch.field("square").getLong(i)).isEqualTo(rows.get(i) * rows.get(i));
        }
        batches.add(rows);
      }
      CoverageReceipt receipt = loader.receipt(context.communicator());
      return new Epoch(batches, receipt.isExact(), receipt.toString());
    }
  }

  /** The order over all ranks: their parts of the first global batch, then of the second, .. */
  private static List<Long> globalOrder(List<Epoch> ranks) {
    List<Long> order = new ArrayList<>();
    for (int batch = 0; batch < ranks.get(0).batches().size(); batch++) {
      for (Epoch rank : ranks) {
        order.addAll(rank.batches().get(batch));
      }
    }
    return order;
  }

  private static void assertEveryRowOnce(List<Epoch> ranks) {
    assertThat(globalOrder(ranks))
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, NUMBERS).boxed().toList());
    assertThat(ranks).allMatch(Epoch::isExact);
    assertThat(ranks.stream().map(Epoch::receipt))
        .containsOnly("403 samples, each exactly once; 403 delivered, 0 dropped, 0 padded");
  }

  @Test
  void twoAndFourRanksReadEveryRowOnceInTheSameOrder() {
    List<Epoch> four = numbers().run(LoaderOnExecutorsTest::epoch);
    assertThat(four).hasSize(4);
    assertEveryRowOnce(four);

    List<Epoch> two = numbers().ranks(2).run(LoaderOnExecutorsTest::epoch);
    assertThat(two).hasSize(2);
    assertEveryRowOnce(two);

    assertThat(globalOrder(two)).isEqualTo(globalOrder(four));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void replicaGroupsShareAnEpoch(int width) {
    assertEveryRowOnce(numbers().width(width).run(LoaderOnExecutorsTest::epoch));
  }

  @Test
  void rowsThatARankDidNotReadAreOnTheReceiptOfAllRanks() {
    List<String> receipts =
        numbers()
            .run(
                context -> {
                  Loader loader = context.loader(everyRow());
                  long wanted = context.rank() == 2 ? 3 : Long.MAX_VALUE;
                  for (LoadedBatch batch : loader.epoch(0)) {
                    if (batch.number() + 1 == wanted) {
                      break;
                    }
                  }
                  return loader.receipt(context.communicator()).toString();
                });

    assertThat(receipts).hasSize(4);
    assertThat(receipts)
        .allSatisfy(
            receipt ->
                assertThat(receipt)
                    .isEqualTo(receipts.get(0))
                    .startsWith("403 samples, not each once: ")
                    .contains("lost")
                    .doesNotContain("repeated"));
  }

  @Test
  void loadersLeftOpenEndWithTheTask() {
    List<Long> first =
        numbers()
            .run(
                context -> {
                  Loader used = context.loader(everyRow());
                  context.loader(everyRow()).epoch(0); // works ahead; its batches are not taken
                  return used.epoch(0).next().row(0);
                });

    assertThat(first).doesNotHaveDuplicates().hasSize(4);
  }

  @Test
  void rethrowsAUserExceptionAndEndsTheLoaders() {
    StoreSpec once = numbers().maxAttempts(1);
    assertThatThrownBy(
            () ->
                once.run(
                    context -> {
                      Loader loader = context.loader(everyRow());
                      for (LoadedBatch batch : loader.epoch(0)) {
                        if (context.rank() == 1 && batch.number() == 2) {
                          throw new IllegalStateException("no gradient in " + batch);
                        }
                        context.communicator().barrier();
                      }
                      return 0;
                    }))
        .hasMessageContaining("no gradient in LoadedBatch[epoch 0, number 2, 5 samples]");
  }

  @Test
  void resumesAStateOnlyOnTheSameRows() {
    List<String> states =
        numbers()
            .run(
                context -> {
                  Loader loader = context.loader(everyRow());
                  EpochLoop loop = loader.epoch(1);
                  loop.next();
                  loop.next();
                  return loader.state().toJson();
                });
    assertThat(states).hasSize(4).containsOnly(states.get(0));
    String state = states.get(0);
    RankTask<Long> resumed =
        context -> context.loader(everyRow()).resume(EpochState.parse(state)).next().number();

    assertThat(numbers().ranks(2).run(resumed)).containsExactly(2L, 2L);
    assertThat(numbers().width(2).run(resumed)).containsOnly(2L);
    StoreSpec others =
        DDStores.from(
                cluster.session().range(NUMBERS).selectExpr("id", "id * id + id % 2 as square"))
            .ranks(4)
            .maxAttempts(1);
    String digest = EpochState.parse(state).digest();
    assertThat(digest).hasSize(16);
    assertThatThrownBy(() -> others.run(resumed))
        .hasMessageContaining("state mismatch: digest of the rows is " + digest);
  }

  @Test
  void namesRowsAndRanksIfRowsAreTooFew() {
    StoreSpec once = numbers().maxAttempts(1);
    assertThatThrownBy(
            () ->
                once.run(
                    context ->
                        context.loader(Samplers.sequential().batchSize(200)).epoch(0).remaining()))
        .hasMessageContaining("403 rows")
        .hasMessageContaining("4 ranks");
  }
}
