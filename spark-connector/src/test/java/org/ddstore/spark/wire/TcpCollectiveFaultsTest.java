// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.ddstore.spark.wire.Troubles.OTHER;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.contract.RankEnv;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ranks 0 and 2 on one host and rank 1 on another reduce while something happens to rank 1. */
@NeedsTwoHosts
@Tag("always")
class TcpCollectiveFaultsTest extends TroubledRanks {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Waited for in full, but also for the ranks to connect: they are slow on a busy machine. */
  private static final Duration SHORT = Duration.ofSeconds(8);

  private static final int RANKS = 3;

  TcpCollectiveFaultsTest() {
    super(TcpBackend::plain);
  }

  private static void reduce(Communicator group) {
    long[] sum = {group.rank(), 1};
    group.allReduce(sum, ReduceOp.SUM);
    assertThat(sum).containsExactly(RANKS * (RANKS - 1) / 2, RANKS);
  }

  private static void reduceSome(Communicator group) {
    for (int i = 0; i < 20; i++) {
      reduce(group);
    }
  }

  /** So that what ranks say in it has come to all of them before anything goes wrong. */
  private static void reduceAndMeet(RankEnv rank) {
    reduceSome(rank.group());
    rank.meet();
  }

  /** Returns the failure of a rank that continues to reduce. */
  private static Throwable failure(Communicator group) {
    return catchThrowable(
        () -> {
          while (true) {
            reduce(group);
          }
        });
  }

  @Test
  void reportsAKilledRankOnAllOthers() throws Exception {
    troubles
        .ranks()
        .processes()
        .runLosing(
            OTHER,
            RANKS,
            PATIENCE,
            rank -> {
              reduceAndMeet(rank);
              if (rank.rank() == 0) {
                rank.meeting().act(Troubles.KILL);
              }
              assertThat(failure(rank.group()))
                  .isInstanceOfSatisfying(
                      RankLostException.class, e -> assertThat(e.rank()).isEqualTo(OTHER));
            });
  }

  @Test
  void collectivesTimeOutOnAStoppedRank() throws Exception {
    troubles.ranks().run(RANKS, SHORT, rank -> breakGroup(rank, Troubles.STOP, Troubles.PROCEED));
  }

  @Test
  void collectivesTimeOutOnACutLink() throws Exception {
    troubles.ranks().run(RANKS, SHORT, rank -> breakGroup(rank, Troubles.DROP, Troubles.RESTORE));
  }

  @Test
  @Tag("slow")
  void collectivesTimeOutOnADisabledLink() throws Exception {
    troubles.ranks().run(RANKS, SHORT, rank -> breakGroup(rank, Troubles.DOWN, Troubles.RESTORE));
  }

  /** Rank 0 ends the trouble once it has raised it, so a stopped rank learns it then. */
  private static void breakGroup(RankEnv rank, String trouble, String end) {
    reduceAndMeet(rank);
    if (rank.rank() == 0) {
      rank.meeting().act(trouble);
    }
    assertDeadline(failure(rank.group()));
    if (rank.rank() == 0) {
      rank.meeting().act(end);
    }
    assertDeadline(catchThrowable(rank.group()::barrier));
  }

  private static void assertDeadline(Throwable e) {
    assertThat(e).isExactlyInstanceOf(DeadlineExceededException.class);
  }

  @Test
  @Tag("slow")
  void collectivesSurviveABrieflyCutLink() throws Exception {
    troubles.ranks().run(RANKS, PATIENCE, rank -> waitFor(rank, Troubles.DROP));
  }

  @Test
  void collectivesWaitForABrieflyStoppedRank() throws Exception {
    troubles
        .ranks()
        .run(
            RANKS,
            PATIENCE,
            rank -> {
              reduceAndMeet(rank);
              if (rank.rank() == 0) {
                rank.meeting().act(Troubles.STOP);
                CompletableFuture<Void> proceeds =
                    CompletableFuture.runAsync(() -> rank.meeting().act(Troubles.PROCEED));
                reduceSome(rank.group());
                proceeds.join();
              } else {
                reduceSome(rank.group());
              }
            });
  }

  private static void waitFor(RankEnv rank, String trouble) {
    reduceSome(rank.group());
    if (rank.rank() == 0) {
      rank.meeting().act(trouble);
      CompletableFuture<Void> restored =
          CompletableFuture.runAsync(() -> rank.meeting().act(Troubles.RESTORE_LATER));
      reduceSome(rank.group());
      restored.join();
    } else {
      reduceSome(rank.group());
    }
  }
}
