// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks that come late, and networks that are down for a while, for good, or for one process. */
@Timeout(120)
class NetworkFaultsTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(1500);
  private static final int RANKS = 3;

  private final List<SocketMessenger> messengers = new ArrayList<>();
  private final List<GroupEndpoint> endpoints = new ArrayList<>();
  private final List<byte[]> addresses = new ArrayList<>();
  private List<Communicator> group = List.of();

  private void createEndpoints() throws Exception {
    for (int rank = 0; rank < RANKS; rank++) {
      messengers.add(SocketMessenger.open());
      LaneExchange exchange = LaneExchange.overMessages(messengers.get(rank));
      endpoints.add(GroupEndpoint.create(exchange, rank, RANKS));
      addresses.add(endpoints.get(rank).address());
    }
  }

  private void connect(Duration timeout) throws Exception {
    createEndpoints();
    group = Ranks.connect(endpoints, timeout);
  }

  @AfterEach
  void closeAll() {
    group.forEach(Communicator::close);
    messengers.forEach(SocketMessenger::close);
    Ranks.assertNoThreadLeft();
    assertThat(Thread.getAllStackTraces().keySet())
        .as("threads of messengers")
        .noneMatch(thread -> thread.getName().startsWith(SocketMessenger.THREADS));
  }

  @Test
  void acceptsARankThatConnectsLate() throws Exception {
    createEndpoints();
    List<Ranks.Running<Communicator>> early = new ArrayList<>();
    for (int rank = 1; rank < RANKS; rank++) {
      GroupEndpoint endpoint = endpoints.get(rank);
      early.add(Ranks.start(rank, () -> endpoint.connect(addresses, LONG)));
    }
    long asked = messengers.get(0).sentBytes();
    await().until(() -> messengers.get(0).sentBytes() > asked); // it answers before it connects
    Communicator late = endpoints.get(0).connect(addresses, LONG);
    group = List.of(late, early.get(0).await().orThrow(), early.get(1).await().orThrow());
    assertThat(Ranks.values(group, c -> c.allGather(new byte[] {(byte) c.rank()})))
        .allSatisfy(all -> assertThat(all).isDeepEqualTo(new byte[][] {{0}, {1}, {2}}));
  }

  @Test
  void immediatelyNamesARankThatClosedItsEndpoint() throws Exception {
    createEndpoints();
    endpoints.get(1).close();
    Ranks.Running<Communicator> waiting =
        Ranks.start(0, () -> endpoints.get(0).connect(addresses, LONG));
    assertThat(waiting.await().thrown())
        .isInstanceOf(RankFailedException.class)
        .hasMessageContaining("rank 1 closed its communicator")
        .hasMessageContaining("has not called any collective");
    endpoints.get(2).close();
  }

  @Test
  void collectiveSurvivesATemporaryNetworkOutage() throws Exception {
    connect(LONG);
    messengers.get(1).setDown(true);
    List<Ranks.Running<byte[][]>> running = new ArrayList<>();
    for (Communicator c : group) {
      running.add(Ranks.start(c, x -> x.allGather(new byte[] {(byte) x.rank()})));
    }
    assertThat(running.get(0).outcome()).isNotDone();
    long sent = messengers.get(0).sentBytes();
    await().until(() -> messengers.get(0).sentBytes() > sent); // asks for what does not come
    messengers.get(1).setDown(false);
    for (Ranks.Running<byte[][]> rank : running) {
      assertThat(rank.await().orThrow()).isDeepEqualTo(new byte[][] {{0}, {1}, {2}});
    }
  }

  @Test
  void collectiveEndsAtTheDeadlineIfTheNetworkStaysDown() throws Exception {
    connect(SHORT);
    messengers.get(1).setDown(true);
    for (Ranks.Outcome<byte[][]> outcome : Ranks.run(group, c -> c.allGather(new byte[1]))) {
      assertThat(outcome.thrown())
          .isInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining("within 1500 ms");
    }
  }

  @Test
  void reportsAnEndedProcessAsLost() throws Exception {
    connect(LONG);
    Ranks.values(
        group,
        c -> {
          c.barrier();
          return null;
        });
    messengers.get(1).setDown(true); // it says no word of its end
    messengers.get(1).close();
    for (int rank : new int[] {0, 2}) {
      assertThat(Ranks.start(group.get(rank), c -> c.allGather(new byte[1])).await().thrown())
          .isInstanceOf(RankLostException.class)
          .hasMessageContaining("the process of rank 1 has ended; it finished call 2, barrier()");
    }
  }

  /** The least that is possible is 2 (n - 1) / n of the array for each rank. */
  @Test
  void allReduceSendsLittleMoreThanTheMinimum() throws Exception {
    connect(LONG);
    float[][] arrays = new float[RANKS][600_000];
    long before = messengers.get(0).sentBytes();
    Ranks.values(
        group,
        c -> {
          c.allReduce(arrays[c.rank()], ReduceOp.SUM);
          return null;
        });
    double arraysSent =
        (messengers.get(0).sentBytes() - before) / (double) (arrays[0].length * Float.BYTES);
    assertThat(arraysSent).isBetween(2.0 * (RANKS - 1) / RANKS, 2.0 * (RANKS - 1) / RANKS + 0.02);
  }
}
