// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.Test;

/** Groups that are split from groups, and waits that are longer than the group's. */
abstract class SplitContract extends FailureContract {
  private final Queue<Communicator> children = new ConcurrentLinkedQueue<>();

  @Override
  final void beforeLeakCheck() {
    children.forEach(Communicator::close);
  }

  private Communicator split(Communicator parent, int color) {
    Communicator child = parent.split(color);
    children.add(child);
    return child;
  }

  @Test
  void splitsByColorInRankOrder() throws Exception {
    List<Communicator> group = group(5, Duration.ofSeconds(23));
    int[] colors = {7, -1, 7, -1, 7};
    List<Communicator> parts = Ranks.values(group, c -> split(c, colors[c.rank()]));
    assertThat(parts).extracting(Communicator::rank).containsExactly(0, 0, 1, 1, 2);
    assertThat(parts).extracting(Communicator::size).containsExactly(3, 2, 3, 2, 3);
    assertThat(parts).extracting(Communicator::timeout).containsOnly(Duration.ofSeconds(23));
    List<byte[][]> gathered =
        Ranks.values(group, c -> parts.get(c.rank()).allGather(new byte[] {(byte) c.rank()}));
    for (int r = 0; r < 5; r++) {
      assertThat(gathered.get(r))
          .isDeepEqualTo(colors[r] == 7 ? new byte[][] {{0}, {2}, {4}} : new byte[][] {{1}, {3}});
    }
  }

  @Test
  void wholeGroupAndSubgroupsWorkInParallel() throws Exception {
    List<Communicator> group = group(4);
    List<float[]> sums =
        Ranks.values(
            group,
            c -> {
              Communicator half = split(c, c.rank() / 2);
              Communicator alone = split(half, half.rank());
              float[] mine = new float[100_000];
              for (int i = 0; i < 20; i++) {
                c.barrier();
                Arrays.fill(mine, c.rank());
                half.allReduce(mine, ReduceOp.SUM);
                alone.allReduce(mine, ReduceOp.MAX);
                c.allReduce(mine, ReduceOp.SUM);
              }
              assertThat(alone.size()).isOne();
              return mine;
            });
    float[] expected = new float[100_000];
    Arrays.fill(expected, 2 * (0 + 1) + 2 * (2 + 3));
    assertThat(sums).containsOnly(expected);
  }

  @Test
  void raisesASplitErrorOnAllRanksAndContinues() throws Exception {
    List<Communicator> group = group(3);
    List<Ranks.Outcome<Communicator>> outcomes =
        Ranks.run(
            group,
            c -> {
              if (c.rank() == 1) {
                c.exchange("split()", SplitContract::boom);
              }
              return split(c, 0);
            });
    assertThat(outcomes).allSatisfy(o -> assertThat(o.thrown()).hasMessageContaining("boom"));
    assertThat(outcomes)
        .extracting(Ranks.Outcome::thrown)
        .hasOnlyElementsOfType(RankFailedException.class);
    List<Communicator> whole = Ranks.values(group, c -> split(c, 0));
    assertThat(Ranks.values(whole, c -> c.allGather(new byte[1]))).hasSize(3);
  }

  private static byte[] boom() throws IOException {
    throw new IOException("boom");
  }

  @Test
  void closesASubgroupIndependently() throws Exception {
    List<Communicator> group = group(2);
    for (int i = 0; i < 30; i++) {
      Ranks.values(
          group,
          c -> {
            try (Communicator part = c.split(0)) {
              part.barrier();
            }
            return null;
          });
    }
    assertThat(Ranks.values(group, c -> c.allGather(new byte[1]))).hasSize(2);
  }

  @Test
  void abortOfTheWholeGroupReachesItsSubgroups() throws Exception {
    abortReaches((whole, part) -> whole, (whole, part) -> part);
  }

  @Test
  void abortOfASubgroupReachesTheWholeGroup() throws Exception {
    abortReaches((whole, part) -> part, (whole, part) -> whole);
  }

  private interface Choice {
    Communicator of(Communicator whole, Communicator part);
  }

  private void abortReaches(Choice aborted, Choice waiting) throws Exception {
    List<Communicator> group = group(3);
    List<Ranks.Outcome<Object>> outcomes =
        Ranks.run(
            group,
            whole -> {
              Communicator part = split(whole, 0);
              part.barrier();
              if (whole.rank() == 1) {
                aborted.of(whole, part).abort(new IOException("disk on fire"));
              }
              waiting.of(whole, part).barrier();
              return null;
            });
    for (Ranks.Outcome<Object> outcome : outcomes) {
      assertThat(outcome.thrown())
          .isExactlyInstanceOf(RankFailedException.class)
          .hasMessageContaining("rank 1 aborted its collectives")
          .hasMessageContaining("disk on fire");
    }
  }

  @Test
  void raisesAMismatchOnRanksWaitingInDifferentGroups() throws Exception {
    List<Ranks.Outcome<Object>> outcomes =
        Ranks.run(
            group(4),
            whole -> {
              Communicator half = split(whole, whole.rank() / 2);
              half.barrier();
              if (whole.rank() == 3) {
                half.exchange("epochBegin()", () -> new byte[0]);
              } else {
                whole.exchange("barrier of all", () -> new byte[0]);
              }
              return null;
            });
    for (Ranks.Outcome<Object> outcome : outcomes) {
      assertThat(outcome.thrown())
          .isExactlyInstanceOf(CollectiveMismatchException.class)
          .hasMessageContaining("rank 2 called barrier of all among 4 ranks, but rank 3 called")
          .hasMessageContaining("epochBegin() among 2 ranks");
    }
  }

  @Test
  void twoThreadsOfARankMayWaitInTwoGroups() throws Exception {
    List<Communicator> group = group(2);
    List<Communicator> parts = Ranks.values(group, whole -> split(whole, 0));
    Ranks.Running<Object> first = barrier(0, parts.get(0));
    Ranks.Running<Object> second = barrier(1, group.get(1));
    await()
        .atMost(TIMEOUT)
        .during(Duration.ofSeconds(2)) // a mismatch is found after one
        .until(() -> !first.outcome().isDone() && !second.outcome().isDone());
    Ranks.Running<Object> third = barrier(0, group.get(0));
    Ranks.Running<Object> fourth = barrier(1, parts.get(1));
    for (Ranks.Running<Object> rank : List.of(first, second, third, fourth)) {
      rank.await().orThrow();
    }
  }

  private static Ranks.Running<Object> barrier(int rank, Communicator communicator) {
    return Ranks.start(
        rank,
        () -> {
          communicator.barrier();
          return null;
        });
  }

  @Test
  void awaitAllOverridesTheTimeoutOfTheGroup() throws Exception {
    Duration brief = Duration.ofMillis(100);
    List<Communicator> group = group(3, brief);
    List<Ranks.Running<Object>> waiting = new ArrayList<>();
    for (int r = 1; r < 3; r++) {
      waiting.add(
          Ranks.start(
              group.get(r),
              c -> {
                c.awaitAll("tasks", Duration.ofHours(5));
                return null;
              }));
    }
    waiting.get(0).thread().join(brief.multipliedBy(3).toMillis());
    for (Ranks.Running<Object> rank : waiting) {
      assertThat(rank.outcome()).as("still waits").isNotDone();
    }
    group.get(0).awaitAll("tasks", TIMEOUT);
    for (Ranks.Running<Object> rank : waiting) {
      rank.await().orThrow();
    }
    // The next call has the group's timeout again.
    Ranks.Running<byte[][]> alone = Ranks.start(group.get(1), c -> c.allGather(new byte[1]));
    assertThat(alone.await().thrown()).isInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void failedRankEndsALongAwaitAll() throws Exception {
    List<Communicator> group = group(2);
    Ranks.Running<Object> waiting =
        Ranks.start(
            group.get(0),
            c -> {
              c.awaitAll("tasks", Duration.ofHours(5));
              return null;
            });
    group.get(1).abort(new IOException("disk on fire"));
    assertThat(waiting.await().thrown())
        .isExactlyInstanceOf(RankFailedException.class)
        .hasMessageContaining("awaitAll(tasks)")
        .hasMessageContaining("disk on fire");
  }

  @Test
  void rejectsAZeroTimeoutOnAllRanks() throws Exception {
    List<Ranks.Outcome<Object>> outcomes =
        Ranks.run(
            group(2),
            c -> {
              c.awaitAll("tasks", c.rank() == 0 ? Duration.ZERO : Duration.ofDays(1));
              return null;
            });
    assertThat(outcomes.get(0).thrown())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT0S");
    assertThat(outcomes.get(1).thrown()).isInstanceOf(RankFailedException.class);
  }
}
