// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.Test;

/** Collectives that do not come together: all ranks learn it in time, reads go on. */
interface CollectiveContract extends Contract {
  @Test
  default void collectiveMissedByOneRankEndsAtTheDeadline() throws Exception {
    run(
        ranks(),
        Duration.ofSeconds(3), // for connecting, too
        rank -> {
          try (DDStore store = rank.open()) {
            Rows.addLongs(store, "x", 1);
            if (rank.rank() != 1) {
              long start = System.nanoTime();
              assertThatThrownBy(store::epochBegin)
                  .isInstanceOf(DeadlineExceededException.class)
                  .hasMessageContaining("epochBegin()")
                  .hasMessageContaining("rank 1 finished")
                  .hasMessageContaining("add(\"x\")");
              assertThat(Duration.ofNanos(System.nanoTime() - start))
                  .isLessThan(Duration.ofSeconds(20));
            }
            rank.meet();
            assertBrokenButReadable(store, rank);
          }
        });
  }

  @Test
  default void namesBothDifferentCollectives() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          Runnable call =
              rank.rank() == 1 ? store::epochBegin : () -> store.init("y", 1, DType.BOOL);
          assertThatThrownBy(call::run)
              .isInstanceOfSatisfying(
                  CollectiveMismatchException.class, e -> assertThat(e.rank()).isEqualTo(1))
              .hasMessageContaining("rank 0 called add(\"y\")")
              .hasMessageContaining("rank 1 called epochBegin()");
          rank.meet();
          assertBrokenButReadable(store, rank);
        });
  }

  @Test
  default void namesBothDifferentVariables() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          String name = rank.rank() == 0 ? "left" : "right";
          assertThatThrownBy(() -> Rows.addLongs(store, name, 2))
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining("add(\"left\")")
              .hasMessageContaining("add(\"right\")");
          rank.meet();
          assertBrokenButReadable(store, rank);
        });
  }

  @Test
  default void namesARankThatLeavesItsGroup() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          rank.meet();
          if (rank.rank() == 1) {
            rank.group().close();
          } else {
            assertThatThrownBy(store::epochBegin)
                .isInstanceOfSatisfying(
                    RankFailedException.class, e -> assertThat(e.rank()).isEqualTo(1))
                .hasMessageContaining("rank 1 closed its communicator");
          }
          rank.meet();
          assertReadable(store, rank);
        });
  }

  private static void assertBrokenButReadable(DDStore store, RankEnv rank) {
    assertThatThrownBy(store::epochBegin).isInstanceOf(DDStoreException.class);
    assertThatThrownBy(() -> store.add("late", Tensor.wrap(new int[1])))
        .isInstanceOf(DDStoreException.class);
    assertReadable(store, rank);
  }

  private static void assertReadable(DDStore store, RankEnv rank) {
    long[] indices = Rows.shuffledTwice(Rows.first(rank.ranks()), 3);
    Tensor got = Rows.room(store.variable("x").schema().field(0), indices.length);
    store.getBatch("x", got, indices);
    assertThat(got.toByteArray()).isEqualTo(Rows.longs(1, indices));
  }
}
