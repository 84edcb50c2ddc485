// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.spark.wire.rows.DataPath;
import org.ddstore.spark.wire.rows.DataPaths;
import org.ddstore.spark.wire.rows.DataServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The paths of rows between processes, and the number of channels. */
@Timeout(120)
class DataPathsTest {
  private static final int BACKLOG = 1;

  private final LogTap log = LogTap.open();

  @AfterEach
  void end() {
    log.close();
    await("threads end")
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .noneMatch(thread -> thread.getName().startsWith("ddstore-data")));
  }

  private static TcpRanks ranks(int count, Map<String, String> settings) throws Exception {
    SparkConf conf = new SparkConf(false);
    settings.forEach(conf::set);
    return new TcpRanks(count, WireOptions.of(conf, null, "127.0.0.1"), NumberedRows::add);
  }

  private static void readAll(TcpRanks ranks, int rank, int ofRank) {
    try (Reader reader = ranks.store(rank).variable(NumberedRows.NAME).reader()) {
      NumberedRows.check(reader, NumberedRows.all(ofRank));
    }
  }

  /** Connections to a port of this process. */
  private static long connectionsTo(int port) {
    try {
      return TcpConnection.inNetworkOf(ProcessHandle.current().pid()).stream()
          .filter(connection -> connection.localPort() == port)
          .count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aReaderHasOneChannelToEachProcess() throws Exception {
    try (TcpRanks ranks = ranks(2, Map.of())) {
      Variable x = ranks.store(0).variable(NumberedRows.NAME);
      assertThat(ranks.session(0).description())
          .isEqualTo("tcp, not encrypted, over data channels");
      try (Reader first = x.reader()) {
        int port;
        try (Reader second = x.reader()) {
          for (int i = 0; i < 3; i++) {
            NumberedRows.check(first, NumberedRows.all(1));
            NumberedRows.check(second, NumberedRows.all(1));
          }
          port = ranks.session(1).dataServer().orElseThrow().port();
          assertThat(connectionsTo(port)).isEqualTo(2);
        }
        await().untilAsserted(() -> assertThat(connectionsTo(port)).isEqualTo(1));
      }
    }
  }

  /**
   * A channel that ends while no thread reads from it does not delay reads from another process.
   */
  @Test
  void aReaderDropsAChannelThatHasEnded() throws Exception {
    try (TcpRanks ranks = ranks(3, Map.of())) {
      Variable x = ranks.store(0).variable(NumberedRows.NAME);
      try (Reader reader = x.reader()) {
        NumberedRows.check(reader, NumberedRows.all(1));
        NumberedRows.check(reader, NumberedRows.all(2));
        int port = ranks.session(1).dataServer().orElseThrow().port();
        ranks.session(1).dataServer().orElseThrow().closeChannels(ranks.session(1).token().id());
        for (int i = 0; i < 3; i++) {
          NumberedRows.check(reader, NumberedRows.all(2));
        }
        assertThat(connectionsTo(port)).isZero();
        NumberedRows.check(reader, NumberedRows.all(1));
        assertThat(connectionsTo(port)).isEqualTo(1);
      }
    }
  }

  @Test
  void noChannelIsOpenedIfTheyAreOff() throws Exception {
    try (TcpRanks ranks = ranks(2, Map.of(OptionKeys.SETTING_DATA_CHANNELS, "false"))) {
      readAll(ranks, 0, 1);
      assertThat(ranks.session(1).dataServer()).isEmpty();
      assertThat(ranks.session(1).servedRequests()).isPositive();
      assertThat(ranks.session(0).description())
          .isEqualTo(
              "tcp, not encrypted, over Spark's network (spark.ddstore.data.channels=false)");
    }
  }

  @Test
  void anEncryptedNetworkOffersNoDataPort() throws Exception {
    StoreToken token = StoreToken.random();
    WireOptions encrypted = TcpBackend.options(true, "127.0.0.1");
    try (WireSession one = Wire.joinAlone(token, encrypted);
        WireSession two = Wire.joinAlone(token, encrypted)) {
      assertThat(one.dataServer()).isEmpty();
      assertThat(one.description())
          .isEqualTo("tcp, authenticated and encrypted, over Spark's network");
      DataPath path = two.path(one.local()).join();
      assertThat(path.channel()).isNull();
    }
  }

  @Test
  void aPortThatCannotBeReachedIsReportedOnce() throws Exception {
    try (TcpRanks ranks = ranks(3, Map.of())) {
      for (int rank : List.of(1, 2)) {
        ranks.session(rank).dataServer().orElseThrow().close(); // its port is offered still
      }
      for (int i = 0; i < 3; i++) {
        readAll(ranks, 0, 1);
        readAll(ranks, 0, 2);
      }
      assertThat(log.of(DataPaths.class))
          .singleElement()
          .asString()
          .contains("cannot reach data port", "spark.ddstore.data.port");
    }
  }

  /** As a process without free descriptors does, and a firewall that drops packets. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPortThatDoesNotAnswerIsGivenUp(boolean dropsPackets) throws Exception {
    try (TcpRanks ranks = ranks(2, Map.of())) {
      DataServer server = ranks.session(1).dataServer().orElseThrow();
      int port = server.port();
      server.close();
      InetAddress address = InetAddress.getLoopbackAddress();
      List<Socket> waiting = new ArrayList<>();
      try (ServerSocket silent = new ServerSocket(port, BACKLOG, address)) {
        for (int i = 0; dropsPackets && i <= BACKLOG; i++) { // Linux completes one more
          waiting.add(new Socket(address, port));
        }
        readAll(ranks, 0, 1);
        assertThat(silent.isClosed()).isFalse();
      } finally {
        for (Socket socket : waiting) {
          socket.close();
        }
      }
      assertThat(log.of(DataPaths.class))
          .singleElement()
          .asString()
          .contains(
              "cannot reach data port 127.0.0.1:" + port,
              dropsPackets ? "Connect timed out" : "Read timed out");
    }
  }

  @Test
  void usesTheNextFreePort() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        TcpRanks ranks =
            ranks(
                2, Map.of(OptionKeys.SETTING_DATA_PORT, Integer.toString(taken.getLocalPort())))) {
      readAll(ranks, 0, 1);
      assertThat(ranks.session(1).dataServer().orElseThrow().port())
          .isBetween(taken.getLocalPort() + 1, taken.getLocalPort() + 16);
    }
  }

  /** Or a descriptor. Until then Spark's network carries the rows. */
  @Test
  void opensAPortWhenOneIsFreeAgain() throws Exception {
    ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    String port = Integer.toString(taken.getLocalPort());
    try (TcpRanks ranks =
        ranks(2, Map.of(OptionKeys.SETTING_DATA_PORT, port, "spark.port.maxRetries", "0"))) {
      readAll(ranks, 0, 1);
      assertThat(ranks.session(1).dataServer()).isEmpty();
      taken.close();
      await().atMost(Duration.ofMinutes(1)).until(() -> ranks.session(1).dataServer().isPresent());
      try (Reader reader = ranks.store(0).variable(NumberedRows.NAME).reader()) {
        NumberedRows.check(reader, NumberedRows.all(1));
        assertThat(connectionsTo(taken.getLocalPort())).isEqualTo(1);
      }
    } finally {
      taken.close();
    }
  }

  /** One process reads from 64 others: one channel to each, and none after the reader's end. */
  @Test
  @Tag("slow")
  void readsFrom64Processes() throws Exception {
    try (TcpRanks ranks = ranks(65, Map.of())) {
      int[] others = IntStream.rangeClosed(1, 64).toArray();
      long[] some =
          IntStream.of(others)
              .mapToObj(rank -> NumberedRows.some(rank, 8, rank))
              .flatMapToLong(LongStream::of)
              .toArray();
      Variable x = ranks.store(0).variable(NumberedRows.NAME);
      try (Reader reader = x.reader()) {
        for (int i = 0; i < 5; i++) {
          NumberedRows.check(reader, some);
        }
        for (int rank : others) {
          int port = ranks.session(rank).dataServer().orElseThrow().port();
          assertThat(connectionsTo(port)).as("rank %d", rank).isEqualTo(1);
        }
      }
      for (int rank : others) {
        int port = ranks.session(rank).dataServer().orElseThrow().port();
        await().untilAsserted(() -> assertThat(connectionsTo(port)).isZero());
      }
    }
  }
}
