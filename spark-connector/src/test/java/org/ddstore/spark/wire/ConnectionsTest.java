package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.ddstore.Backing;
import org.ddstore.DType;
import org.ddstore.DeadlineExceededException;
import org.ddstore.Field;
import org.ddstore.ProcessAddress;
import org.ddstore.RankLostException;
import org.ddstore.Schema;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How connections are made, lost and made again; two network ends of one JVM. */
@Tag("system")
@Timeout(120)
class ConnectionsTest {
  private static final String HERE = "127.0.0.1";
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofSeconds(1);

  private final StoreToken token = StoreToken.random();
  private final Segment segment = segment();
  private WireSession owner;
  private WireSession reader;

  private static Segment segment() {
    Schema schema = Schema.of(Field.fixed("x", DType.UINT8, 100));
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "zeros", schema)) {
      writer.appendZeros(1000);
      return writer.seal();
    }
  }

  private void open(boolean guarded) {
    WireOptions options = TcpBackend.options(guarded, HERE);
    owner = Wire.joinAlone(token, options);
    owner.export(segment);
    reader = Wire.joinAlone(token, options);
  }

  @AfterEach
  void close() {
    owner.close();
    reader.close();
    segment.release();
  }

  /** Connections between the two ends, each counted once. */
  private long between() throws IOException {
    List<Integer> ports = List.of(owner.local().port(), reader.local().port());
    return TcpConnection.inNetworkOf(ProcessHandle.current().pid()).stream()
        .filter(connection -> ports.contains(connection.localPort()))
        .count();
  }

  private RemoteRead readFrom(ProcessAddress process, Duration timeout) {
    return new RemoteRead(reader, segment, process, timeout);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofTwoThatAreOpenedAtOnceOneStays(boolean guarded) throws Exception {
    open(guarded);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int round = 0; round < 60; round++) {
        CyclicBarrier start = new CyclicBarrier(2);
        CompletableFuture<Connection> there = connect(owner, reader, start, threads);
        CompletableFuture<Connection> back = connect(reader, owner, start, threads);
        there.get();
        back.get();
        awaitSoon(
            "one connection for both, round " + round,
            () ->
                !isOpening()
                    && owner.connection(reader.local()).get().isActive()
                    && reader.connection(owner.local()).get().isActive()
                    && between() == 1);
        owner.connection(reader.local()).get().close();
        awaitSoon("none", () -> between() == 0 && !isConnected());
      }
    } finally {
      threads.shutdown();
    }
  }

  private static void awaitSoon(String what, Callable<Boolean> condition) {
    await(what).pollInterval(Duration.ofMillis(2)).atMost(PATIENCE).until(condition);
  }

  /** Whether a thread still opens a connection, if only to find that there is one. */
  private static boolean isOpening() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().equals(Connections.class.getName()));
  }

  private boolean isConnected() {
    return owner.isConnected(reader.local()) || reader.isConnected(owner.local());
  }

  private static CompletableFuture<Connection> connect(
      WireSession from, WireSession to, CyclicBarrier start, ExecutorService threads) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            start.await();
            return from.connection(to.local()).get();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        threads);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readsAndCollectivesGoOnWhenConnectionsBreak(boolean guarded) throws Exception {
    open(guarded);
    try (Traffic traffic = new Traffic(owner, reader)) {
      for (int i = 0; i < 20; i++) {
        owner.connection(reader.local()).get().close();
        traffic.assertFlows();
        reader.connection(owner.local()).get().close();
        traffic.assertFlows();
      }
    }
  }

  @Test
  void nobodyListens() throws Exception {
    open(false);
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    try (RemoteRead read = readFrom(new ProcessAddress(HERE, port, 1), PATIENCE)) {
      assertThatThrownBy(() -> read.row(0))
          .isExactlyInstanceOf(RankLostException.class)
          .hasMessageContaining("the process of rank 0 at 127.0.0.1:" + port);
    }
  }

  @Test
  void anotherProcessHasThePort() throws Exception {
    open(false);
    ProcessAddress earlier = new ProcessAddress(HERE, owner.local().port(), owner.local().id() + 1);
    try (RemoteRead read = readFrom(earlier, PATIENCE);
        RemoteRead right = readFrom(owner.local(), PATIENCE)) {
      assertThatThrownBy(() -> read.row(0)).isExactlyInstanceOf(RankLostException.class);
      assertThat(right.row(999)).isEqualTo(new byte[100]);
      assertThatThrownBy(() -> read.row(0)).isExactlyInstanceOf(RankLostException.class);
    }
  }

  @Test
  void anotherServiceHasThePort() throws Exception {
    open(false);
    try (Impostor silent = new Impostor(HERE, new byte[0], false);
        RemoteRead read = readFrom(silent.address(), SHORT)) {
      assertThatThrownBy(() -> read.row(0)).isExactlyInstanceOf(DeadlineExceededException.class);
    }
  }

  @Test
  void whoStopsInTheMiddleOfAFrameIsForgotten() throws Exception {
    open(false);
    Map<String, String> impatient = Map.of("spark.ddstore.io.connectionTimeout", "1s");
    try (WireSession session = Wire.joinAlone(token, TcpBackend.options(false, HERE, impatient));
        Stranger silent = new Stranger(session.local());
        Stranger slow = new Stranger(session.local())) {
      slow.send(Stranger.frame(1000, Stranger.RPC_REQUEST, new byte[100]));
      silent.awaitRefusal();
      slow.awaitRefusal();
    }
  }

  @Test
  void noWayToAHostIsAnEndAndATimeoutIsNone() {
    open(false);
    assertThat(Connections.isUnreachable(new IOException(new NoRouteToHostException("No route"))))
        .isTrue();
    assertThat(
            Connections.isUnreachable(
                new IOException(new ConnectException("Connection refused: x"))))
        .isTrue();
    assertThat(
            Connections.isUnreachable(
                new IOException(new ConnectException("connection timed out"))))
        .isFalse();
    assertThat(Connections.isUnreachable(new IOException("timed out"))).isFalse();
  }
}
