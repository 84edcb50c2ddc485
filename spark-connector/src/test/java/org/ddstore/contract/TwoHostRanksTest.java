// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.collective.LocalGroup;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.types.Backing;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The harness for ranks on two hosts, by what needs no transport between them. */
@NeedsTwoHosts
@Timeout(180)
class TwoHostRanksTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int PIECE_BYTES = 100_000;

  /** Ranks that meet, and have a group each for themselves. */
  private static RankEnv enterAlone(Meeting meeting, Duration timeout) {
    return new RankEnv(
        meeting,
        LocalGroup.create(1, timeout).get(0),
        null,
        StoreOptions.defaults(),
        owner -> ReadPath.OWN_PROCESS);
  }

  private record Alone() implements RankBackend {
    @Override
    public List<String> directories() {
      return List.of("/dev/shm/alone");
    }

    @Override
    public List<String> jvmOptions() {
      return List.of("-Dof.the.backend=given");
    }

    @Override
    public RankEnv enter(Meeting meeting, Duration timeout) {
      return enterAlone(meeting, timeout);
    }
  }

  @Test
  void alternatesRanksBetweenTheHosts() throws Exception {
    try (TwoHostRanks ranks = TwoHostRanks.alternating(new Alone())) {
      List<String> names = List.of(ranks.hosts().first().name(), ranks.hosts().second().name());
      for (int size : new int[] {3, 5}) {
        ranks.run(
            size,
            PATIENCE,
            rank -> {
              assertThat(System.getProperty("of.the.backend")).isEqualTo("given");
              assertThat(rank.ranks()).isEqualTo(size);
              InetAddress local = InetAddress.getLocalHost();
              assertThat(local.getHostName()).isEqualTo(names.get(rank.rank() % 2));
              assertThat(local.getHostAddress()).isEqualTo(rank.meeting().address());
              byte[][] told = rank.meeting().tell(local.getHostName().getBytes(UTF_8));
              for (int r = 0; r < size; r++) {
                assertThat(new String(told[r], UTF_8)).isEqualTo(names.get(r % 2));
                assertThat(rank.meeting().sharesHost(r)).isEqualTo(r % 2 == rank.rank() % 2);
              }
              long[] all = IntStream.range(0, size).asLongStream().toArray();
              assertThat(rank.tell(rank.rank())).isEqualTo(all);
              rank.meet();
            });
      }
    }
  }

  @Test
  void ranksOfOneHostReadSharedMemoryNotTheLink() throws Exception {
    RankBackend backend = new FilesBackend(Backing.SHM, "/dev/shm/store", "/dev/shm/lanes");
    try (TwoHostRanks ranks = TwoHostRanks.placed(backend, 1)) {
      long before = ranks.hosts().sentBytes();
      ranks
          .processes()
          .offer("look", () -> assertThat(ranks.hosts().second().files()).isNotEmpty());
      ranks.run(2, PATIENCE, TwoHostRanksTest::readEachOther);
      assertThat(ranks.hosts().sentBytes()).isEqualTo(before);
    }
  }

  private static void readEachOther(RankEnv rank) {
    try (DDStore store = rank.open()) {
      Variable x = Rows.addLongs(store, "x", 1);
      long[] indices = Rows.shuffledTwice(Math.toIntExact(x.rows()), 4);
      try (Batch batch = store.getBatch("x", indices)) {
        assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(1, indices));
      }
      rank.meeting().act("look");
      rank.meet();
    }
  }

  @Test
  void cutsTheLinkWhileRanksTalk() throws Exception {
    try (TwoHostRanks ranks = TwoHostRanks.alternating(new Alone())) {
      AtomicReference<Long> sent = new AtomicReference<>(0L);
      ranks.processes().offer("cut", () -> ranks.hosts().link().drop());
      ranks.processes().offer("restore", () -> ranks.hosts().link().restore());
      ranks.processes().offer("remember", () -> sent.set(ranks.hosts().sentBytes()));
      // Unacknowledged packets are sent again: 3 packets of one byte exceed 200 bytes.
      ranks
          .processes()
          .offer(
              "await sending",
              () ->
                  await()
                      .atMost(PATIENCE)
                      .until(() -> ranks.hosts().sentBytes() > sent.get() + 200));
      long before = ranks.hosts().second().sentBytes();
      ranks.run(2, PATIENCE, rank -> talk(rank, "cut", "restore"));
      assertThat(ranks.hosts().second().sentBytes() - before)
          .isGreaterThanOrEqualTo(2 * PIECE_BYTES);
    }
  }

  @Test
  void stopsAndContinuesARank() throws Exception {
    try (TwoHostRanks ranks = TwoHostRanks.alternating(new Alone())) {
      AtomicReference<Stopped> stopped = new AtomicReference<>();
      ranks.processes().offer("remember", () -> {});
      ranks.processes().offer("await sending", () -> {});
      ranks
          .processes()
          .offer("stop", () -> stopped.set(Stopped.stop(ranks.processes().process(1))));
      ranks.processes().offer("go on", () -> stopped.get().proceed());
      try {
        ranks.run(2, PATIENCE, rank -> talk(rank, "stop", "go on"));
      } finally {
        stopped.get().close();
      }
    }
  }

  /** Rank 1 sends a piece, and a second one under the trouble that rank 0 asks for. */
  private static void talk(RankEnv rank, String trouble, String end) throws IOException {
    if (rank.rank() == 1) {
      long port = rank.tell(0)[0];
      String server = new String(rank.meeting().tell(new byte[0])[0], UTF_8);
      try (Socket socket = new Socket(server, Math.toIntExact(port))) {
        for (int piece = 0; piece < 2; piece++) {
          assertThat(socket.getInputStream().read()).as("asked for").isEqualTo(piece);
          socket.getOutputStream().write(new byte[PIECE_BYTES]);
        }
        rank.meet();
      }
      return;
    }
    InetAddress address = InetAddress.getByName(rank.meeting().address());
    try (ServerSocket server = new ServerSocket(0, 1, address)) {
      rank.tell(server.getLocalPort());
      rank.meeting().tell(rank.meeting().address().getBytes(UTF_8));
      try (Socket socket = server.accept()) {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        socket.getOutputStream().write(0);
        in.readFully(new byte[PIECE_BYTES]);
        rank.meeting().act(trouble);
        rank.meeting().act("remember");
        socket.getOutputStream().write(1);
        rank.meeting().act("await sending");
        assertThat(in.available()).as("came through").isZero();
        rank.meeting().act(end);
        in.readFully(new byte[PIECE_BYTES]);
        rank.meet();
      }
    }
  }

  @Test
  void replacesAKilledRankOnItsHost() throws Exception {
    try (TwoHostRanks ranks = TwoHostRanks.alternating(new Alone())) {
      String second = ranks.hosts().second().name();
      ranks.processes().offer("kill", () -> ranks.processes().process(1).destroyForcibly());
      ranks
          .processes()
          .runLosing(
              1,
              3,
              PATIENCE,
              rank -> {
                rank.meet();
                if (rank.rank() == 0) {
                  rank.meeting().act("kill");
                }
                assertThatThrownBy(rank::meet)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a rank has come to its end");
              });
      ranks.run(
          3,
          PATIENCE,
          rank -> {
            if (rank.rank() == 1) {
              assertThat(InetAddress.getLocalHost().getHostName()).isEqualTo(second);
            }
            rank.meet();
          });
    }
  }

  @Test
  void failureOfARankIsReported() throws Exception {
    try (TwoHostRanks ranks = TwoHostRanks.alternating(new Alone())) {
      ranks
          .processes()
          .offer(
              "fail",
              () -> {
                throw new IOException("on purpose");
              });
      assertThatThrownBy(
              () ->
                  ranks.run(
                      2,
                      PATIENCE,
                      rank -> rank.meeting().act(rank.rank() == 0 ? "fail" : "unknown")))
          .isInstanceOf(AssertionError.class)
          .satisfies(
              e ->
                  assertThat(e.getMessage() + e.getSuppressed()[0].getMessage())
                      .contains("rank 0 of 2", "\"fail\" failed: java.io.IOException: on purpose")
                      .contains("rank 1 of 2", "\"unknown\" is not among [fail]"));
      ranks.run(2, PATIENCE, RankEnv::meet);
    }
  }
}
