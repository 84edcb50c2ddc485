// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of connections between two hosts without data channels, and their content. */
@NeedsTwoHosts
@Timeout(120)
class TcpConnectionsTest {
  private static final Path ROOT = Path.of("/dev/shm/ddstore-connections");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int TIMES = 4;

  /** Bytes of the rows that rank 0 reads from rank 1. */
  private static final long READ_BYTES =
      (long) TIMES * NumberedRows.PER_RANK * NumberedRows.ROW_BYTES;

  private static TcpBackend backend(boolean guarded) {
    return guarded ? TcpBackend.guarded(ROOT) : TcpBackend.overSparksNetwork(ROOT);
  }

  /** Connections from one host to the other, of all processes. */
  private static long connections(TwoHostRanks ranks) throws IOException {
    return TcpConnection.inNetworkOf(ranks.processes().process(0).pid()).stream()
        .filter(one -> one.remoteAddress().equals(ranks.hosts().second().address()))
        .count();
  }

  private static void offerCounts(TwoHostRanks ranks) {
    ranks
        .processes()
        .offer("none", () -> await().atMost(PATIENCE).until(() -> connections(ranks) == 0));
    ranks
        .processes()
        .offer("one", () -> await().atMost(PATIENCE).until(() -> connections(ranks) == 1));
    ranks.processes().offer("still one", () -> assertThat(connections(ranks)).isEqualTo(1));
  }

  @ParameterizedTest
  @Tag("slow")
  @ValueSource(booleans = {false, true})
  void twoProcessesReadOverOneSharedConnection(boolean guarded) throws Exception {
    try (TwoHostRanks ranks = TwoHostRanks.alternating(backend(guarded))) {
      AtomicLong sent = new AtomicLong();
      offerCounts(ranks);
      ranks.processes().offer("begin", () -> sent.set(ranks.hosts().second().sentBytes()));
      ranks
          .processes()
          .offer(
              "end",
              () -> {
                long bytes = ranks.hosts().second().sentBytes() - sent.get();
                System.out.printf(
                    "%,d bytes of rows read, %,d bytes on the link, encrypted: %s%n",
                    READ_BYTES, bytes, guarded);
                assertThat(bytes).isGreaterThanOrEqualTo(READ_BYTES);
              });
      ranks.run(2, PATIENCE, TcpConnectionsTest::share);
      ranks.run(2, PATIENCE, TcpConnectionsTest::read);
    }
  }

  private static void read(RankEnv rank) {
    try (DDStore store = rank.open()) {
      Variable x = NumberedRows.add(store);
      if (rank.rank() == 0) {
        try (Reader reader = x.reader()) {
          rank.meeting().act("begin");
          for (int i = 0; i < TIMES; i++) {
            NumberedRows.check(reader, NumberedRows.all(1));
          }
          rank.meeting().act("end");
        }
      }
      rank.meet();
    }
  }

  /** From the first contact on, which both processes seek at the same time. */
  private static void share(RankEnv rank) {
    try (DDStore store = rank.open();
        Reader reader = NumberedRows.add(store).reader()) {
      for (int i = 0; i < 20; i++) {
        NumberedRows.check(reader, NumberedRows.all(1 - rank.rank()));
        rank.group().barrier();
        rank.meeting().act(i == 0 ? "one" : "still one");
      }
      rank.meet();
    }
  }

  @Test
  @Tag("slow")
  void closesAndReopensAnIdleConnection() throws Exception {
    TcpBackend impatient = backend(false).with("spark.ddstore.io.connectionTimeout", "1s");
    try (TwoHostRanks ranks = TwoHostRanks.alternating(impatient)) {
      offerCounts(ranks);
      ranks.run(2, PATIENCE, TcpConnectionsTest::pause);
    }
  }

  private static void pause(RankEnv rank) {
    try (DDStore store = rank.open();
        Reader reader = NumberedRows.add(store).reader()) {
      for (int i = 0; i < 2; i++) {
        awaitIdle(rank);
        if (rank.rank() == i) {
          NumberedRows.check(reader, NumberedRows.all(1 - i));
        }
        awaitIdle(rank);
        rank.group().barrier();
      }
    }
  }

  /** While no rank waits for another over the connection. */
  private static void awaitIdle(RankEnv rank) {
    rank.meeting().tell(new byte[0]);
    rank.meeting().act("none");
    rank.meeting().tell(new byte[0]);
  }
}
