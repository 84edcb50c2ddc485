// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.Test;

/** Failures that every rank sees when one rank fails. */
abstract class FailureContract extends CommunicatorContract {
  private static final Duration SHORT = Duration.ofMillis(1500);
  private static final String ADD = "add(\"x\", float32[3])";

  @Test
  void raisesAContributionErrorOnAllRanks() throws Exception {
    List<Communicator> group = group(3);
    IllegalArgumentException boom = new IllegalArgumentException("width 4, expected 3");
    List<Throwable> thrown =
        failedContributions(
            group,
            c -> {
              if (c.rank() == 1) {
                throw boom;
              }
            });
    assertThat(thrown.get(1)).isSameAs(boom);
    for (int r : new int[] {0, 2}) {
      assertThat(thrown.get(r)).isExactlyInstanceOf(RankFailedException.class);
      assertThat(((RankFailedException) thrown.get(r)).rank()).isEqualTo(1);
      assertThat(thrown.get(r)).hasMessageContaining(ADD).hasMessageContaining("rank 1");
      assertThat(thrown.get(r)).hasMessageContaining("width 4, expected 3");
    }
    assertThat(Ranks.run(group, c -> c.allGather(bytes(c.rank()))))
        .as("the group goes on")
        .allSatisfy(outcome -> assertThat(outcome.thrown()).isNull());
  }

  @Test
  void wrapsACheckedExceptionAsTheCause() throws Exception {
    IOException full = new IOException("no space");
    List<Throwable> thrown =
        failedContributions(
            group(2),
            c -> {
              throw full;
            });
    assertThat(thrown).allSatisfy(e -> assertThat(e).isInstanceOf(RankFailedException.class));
    assertThat(thrown).allSatisfy(e -> assertThat(e).hasCause(full));
  }

  @Test
  void raisesAnErrorOnAllRanks() throws Exception {
    OutOfMemoryError error = new OutOfMemoryError("Java heap space");
    List<Throwable> thrown =
        failedContributions(
            group(2),
            c -> {
              if (c.rank() == 0) {
                throw error;
              }
            });
    assertThat(thrown.get(0)).isSameAs(error);
    assertThat(thrown.get(1)).hasMessageContaining("Java heap space");
  }

  @Test
  void raisesABadArgumentOfOneRankOnAllRanks() throws Exception {
    List<Throwable> thrown = failures(group(2), c -> c.allGather(c.rank() == 0 ? null : bytes(1)));
    assertThat(thrown.get(0)).isInstanceOf(NullPointerException.class).hasMessage("mine is null");
    assertThat(thrown.get(1)).isInstanceOf(RankFailedException.class).hasMessageContaining("mine");

    thrown = failures(group(2), c -> c.broadcast(bytes(1), 2));
    assertThat(thrown).hasOnlyElementsOfType(IndexOutOfBoundsException.class);

    thrown = failures(group(2), c -> c.exchange(null, () -> bytes(1)));
    assertThat(thrown).hasOnlyElementsOfType(NullPointerException.class);
  }

  @Test
  void namesDifferentCallsOnAllRanks() throws Exception {
    List<Communicator> group = group(3);
    List<Throwable> thrown =
        failures(
            group,
            c -> {
              c.barrier();
              if (c.rank() == 2) {
                c.allReduce(new float[3], ReduceOp.SUM);
              } else {
                c.barrier();
              }
            });
    for (Throwable e : thrown) {
      assertThat(e)
          .isExactlyInstanceOf(CollectiveMismatchException.class)
          .hasMessageContaining("rank 0 called barrier() (call ")
          .hasMessageContaining("rank 2 called allReduce(float32[3], SUM) (call ");
      assertThat(((CollectiveMismatchException) e).rank()).isEqualTo(2);
    }
    assertBroken(group, CollectiveMismatchException.class, "allReduce(float32[3], SUM)");
  }

  @Test
  void detectsCallsThatDifferBeyondTheReportedText() throws Exception {
    String text = "add(" + "x".repeat(5000);
    List<Throwable> thrown =
        failures(group(2), c -> c.exchange(text + c.rank(), () -> new byte[0]));
    assertThat(thrown).hasOnlyElementsOfType(CollectiveMismatchException.class);
    assertThat(thrown.get(0).getMessage().length()).isLessThan(8000);
  }

  @Test
  void namesAMissingRankAtTheDeadline() throws Exception {
    // Rank 0 and 2 know of the only call of rank 1 before they wait: no step must be quick.
    List<Communicator> group = group(3, Duration.ofMillis(300));
    List<Ranks.Outcome<Object>> outcomes =
        Ranks.run(
            group,
            c -> {
              c.awaitAll("start", TIMEOUT);
              if (c.rank() != 1) {
                c.barrier();
              }
              return null;
            });
    assertThat(outcomes.get(1).thrown()).isNull();
    // The first to give up says so, and the other may learn it before its own deadline.
    for (int r : new int[] {0, 2}) {
      assertThat(outcomes.get(r).thrown())
          .isExactlyInstanceOf(DeadlineExceededException.class)
          .hasMessageStartingWith("barrier(): ")
          .hasMessageContaining("within 300 ms")
          .hasMessageContaining("rank 1 finished call")
          .hasMessageContaining("awaitAll(start)");
    }
    assertBroken(
        List.of(group.get(0), group.get(2)),
        DeadlineExceededException.class,
        "rank 1 finished call");
    // Rank 1 took no part in the call: the message of its failure may still be on its way.
    assertThatThrownBy(() -> group.get(1).allGather(new byte[1]))
        .isInstanceOfAny(DeadlineExceededException.class, CollectiveMismatchException.class);
  }

  @Test
  void namesASlowRankAtTheDeadline() throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    List<Communicator> group = group(2, SHORT);
    Ranks.Running<byte[][]> slow =
        Ranks.start(
            group.get(1),
            c -> {
              c.exchange(
                  ADD,
                  () -> {
                    done.await();
                    return new byte[0];
                  });
              // A message that the other came may overtake the news that it aborted.
              return c.allGather(new byte[0]);
            });
    Ranks.Outcome<byte[][]> fast =
        Ranks.start(group.get(0), c -> c.exchange(ADD, () -> new byte[0])).await();
    done.countDown();
    assertThat(fast.thrown())
        .isExactlyInstanceOf(DeadlineExceededException.class)
        .hasMessageContaining("rank 1 is in call")
        .hasMessageContaining(ADD);
    assertThat(slow.await().thrown()).isExactlyInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void abortEndsTheWaitOfTheOthers() throws Exception {
    List<Communicator> group = group(3);
    List<Throwable> thrown =
        failures(
            group,
            c -> {
              c.barrier();
              if (c.rank() == 0) {
                c.abort(new IOException("disk on fire"));
              }
              c.barrier();
            });
    for (Throwable e : thrown) {
      assertThat(e).isExactlyInstanceOf(RankFailedException.class);
      assertThat(e)
          .hasMessageContaining("rank 0 aborted its collectives")
          .hasMessageContaining("disk on fire");
    }
    assertBroken(group, RankFailedException.class, "disk on fire");
  }

  @Test
  void abortByAnotherThreadEndsTheWait() throws Exception {
    List<Communicator> group = group(2);
    Ranks.Running<Void> waiting = startBarrier(group.get(0));
    group.get(0).abort(new IOException("cancelled"));
    assertThat(waiting.await().thrown())
        .isExactlyInstanceOf(RankFailedException.class)
        .hasMessageContaining("cancelled");
  }

  @Test
  void closeEndsTheWaitOfTheOthers() throws Exception {
    List<Communicator> group = group(3);
    List<Throwable> thrown =
        failures(
            group,
            c -> {
              c.allGather(new byte[1]);
              if (c.rank() == 1) {
                c.close();
              }
              c.barrier();
            });
    assertThat(thrown.get(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed: ");
    for (int r : new int[] {0, 2}) {
      assertThat(thrown.get(r))
          .isExactlyInstanceOf(RankFailedException.class)
          .hasMessageContaining("rank 1 closed its communicator")
          .hasMessageContaining("allGather()");
    }
  }

  @Test
  void closeRightAfterTheLastCollectiveIsHarmless() throws Exception {
    for (int i = 0; i < 50; i++) {
      Ranks.values(
          group(3),
          c -> {
            byte[][] all = c.allGather(new byte[10]);
            c.close();
            return all;
          });
    }
  }

  @Test
  void closeByAnotherThreadEndsTheWait() throws Exception {
    List<Communicator> group = group(2);
    Ranks.Running<Void> waiting = startBarrier(group.get(0));
    group.get(0).close();
    assertThat(waiting.await().thrown())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: " + group.get(0));
  }

  @Test
  void interruptEndsTheWaitAndKeepsItsFlag() throws Exception {
    List<Communicator> group = group(2);
    boolean[] flag = new boolean[1];
    Ranks.Running<Void> waiting =
        Ranks.start(
            group.get(0),
            c -> {
              try {
                c.barrier();
                return null;
              } finally {
                flag[0] = Thread.currentThread().isInterrupted();
              }
            });
    awaitEntered(group.get(0));
    waiting.thread().interrupt();
    assertThat(waiting.await().thrown()).isInstanceOf(CollectiveInterruptedException.class);
    assertThat(flag[0]).as("interrupt flag").isTrue();
    assertThatThrownBy(
            () -> {
              group.get(1).barrier();
              // A message that the other came may overtake the news that it aborted.
              group.get(1).allGather(new byte[0]);
            })
        .isExactlyInstanceOf(RankFailedException.class)
        .hasMessageContaining("rank 0 was interrupted in barrier()");
    assertThatThrownBy(group.get(0)::barrier).isInstanceOf(CollectiveInterruptedException.class);
  }

  @Test
  void rejectsASecondThreadWithoutHarm() throws Exception {
    List<Communicator> group = group(2);
    Ranks.Running<Void> waiting = startBarrier(group.get(0));
    assertThatThrownBy(group.get(0)::barrier)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith(
            "concurrent collectives on %s: barrier() is".formatted(group.get(0)))
        .hasMessageContaining(Ranks.THREAD_PREFIX + 0);
    group.get(1).barrier();
    assertThat(waiting.await().orThrow()).isNull();
    Ranks.values(group, c -> c.allGather(new byte[1]));
  }

  @Test
  void aContributionMayNotUseItsCommunicator() throws Exception {
    List<Throwable> thrown = failedContributions(group(2), Communicator::barrier);
    assertThat(thrown).hasOnlyElementsOfType(IllegalStateException.class);
  }

  @FunctionalInterface
  private interface Actions {
    void run(Communicator communicator) throws Exception;
  }

  private static List<Throwable> failedContributions(List<Communicator> group, Actions actions)
      throws Exception {
    return failures(
        group,
        c ->
            c.exchange(
                ADD,
                () -> {
                  actions.run(c);
                  return new byte[0];
                }));
  }

  private static Ranks.Running<Void> startBarrier(Communicator communicator) {
    Ranks.Running<Void> running =
        Ranks.start(
            communicator,
            c -> {
              c.barrier();
              return null;
            });
    awaitEntered(communicator);
    return running;
  }

  private static void awaitEntered(Communicator communicator) {
    await().until(communicator::isBusy);
  }

  private static List<Throwable> failures(List<Communicator> group, Actions actions)
      throws Exception {
    List<Ranks.Outcome<Object>> outcomes =
        Ranks.run(
            group,
            c -> {
              actions.run(c);
              return null;
            });
    assertThat(outcomes).as("outcomes by rank").allMatch(outcome -> outcome.thrown() != null);
    return outcomes.stream().<Throwable>map(Ranks.Outcome::thrown).toList();
  }

  private static void assertBroken(
      List<Communicator> group, Class<? extends Throwable> type, String cause) throws Exception {
    for (int i = 0; i < 2; i++) {
      for (Throwable e : failures(group, c -> c.allGather(new byte[1]))) {
        assertThat(e)
            .isExactlyInstanceOf(type)
            .hasMessageStartingWith("allGather() not started, the group is broken: ")
            .hasMessageContaining(cause);
      }
    }
  }

  private static byte[] bytes(int length) {
    return new byte[length];
  }
}
