// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.RankLostException;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The creation, loss and renewal of connections between two network ends of one JVM. */
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
  @Tag("slow")
  void oneOfTwoConcurrentConnectionsIsKept(boolean guarded) throws Exception {
    open(guarded);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int round = 0; round < 20; round++) {
        CyclicBarrier start = new CyclicBarrier(2);
        CompletableFuture<Connection> there = connect(owner, reader, start, threads);
        CompletableFuture<Connection> back = connect(reader, owner, start, threads);
        there.get();
        back.get();
        awaitSoon(
            "one connection for both, round " + round,
            () ->
                !isOpening()
                    && owner.connections().to(reader.local()).get().isActive()
                    && reader.connections().to(owner.local()).get().isActive()
                    && between() == 1);
        owner.connections().to(reader.local()).get().close();
        awaitSoon("none", () -> between() == 0 && !isConnected());
      }
    } finally {
      threads.shutdown();
    }
  }

  private static void awaitSoon(String what, Callable<Boolean> condition) {
    await(what).pollInterval(Duration.ofMillis(2)).atMost(PATIENCE).until(condition);
  }

  /** Returns true while a thread opens a connection, or still finds that one exists. */
  private static boolean isOpening() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().equals(Connections.class.getName()));
  }

  private boolean isConnected() {
    return owner.connections().isConnected(reader.local())
        || reader.connections().isConnected(owner.local());
  }

  private static CompletableFuture<Connection> connect(
      WireSession from, WireSession to, CyclicBarrier start, ExecutorService threads) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            start.await();
            return from.connections().to(to.local()).get();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        threads);
  }

  /** One of the threads proves the token; the others may not call before the peer has the proof. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void threadsThatUseAnotherStoreAtOnceAreServed(boolean guarded) throws Exception {
    open(guarded);
    WireOptions options = TcpBackend.options(guarded, HERE);
    int callers = 4;
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    Wire here = new Wire(options);
    Wire there = new Wire(options);
    try (WireSession asking = here.join(token);
        WireSession serving = there.join(token)) {
      asking.connections().to(serving.local()).get();
      for (int round = 0; round < 300; round++) {
        StoreToken another = StoreToken.random();
        try (WireSession client = here.join(another);
            WireSession server = there.join(another)) {
          server.control().serve(asked -> ByteBuffer.allocate(1));
          CyclicBarrier start = new CyclicBarrier(callers);
          List<CompletableFuture<ByteBuffer>> answers =
              IntStream.range(0, callers)
                  .mapToObj(caller -> call(client, server.local(), start, threads))
                  .toList();
          for (CompletableFuture<ByteBuffer> answer : answers) {
            assertThat(answer.get().remaining()).isEqualTo(1);
          }
        }
      }
    } finally {
      threads.shutdown();
    }
  }

  private static CompletableFuture<ByteBuffer> call(
      WireSession from, ProcessAddress to, CyclicBarrier start, ExecutorService threads) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            start.await();
            long laterNs = ThreadLocalRandom.current().nextLong(1_000_000);
            for (long startNs = System.nanoTime(); System.nanoTime() - startNs < laterNs; ) {
              Thread.onSpinWait();
            }
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            return from.control().call(to, ByteBuffer.allocate(1), deadlineNs);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        threads);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readsAndCollectivesSurviveBrokenConnections(boolean guarded) throws Exception {
    open(guarded);
    try (Traffic traffic = new Traffic(owner, reader)) {
      for (int i = 0; i < 10; i++) {
        owner.connections().to(reader.local()).get().close();
        traffic.assertFlows();
        reader.connections().to(owner.local()).get().close();
        traffic.assertFlows();
      }
    }
  }

  @Test
  void reportsALostRankIfNobodyListens() throws Exception {
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
  void reportsALostRankIfAnotherProcessHasThePort() throws Exception {
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
  void exceedsTheDeadlineIfAnotherServiceHasThePort() throws Exception {
    open(false);
    try (Impostor silent = new Impostor(HERE, new byte[0], false);
        RemoteRead read = readFrom(silent.address(), SHORT)) {
      assertThatThrownBy(() -> read.row(0)).isExactlyInstanceOf(DeadlineExceededException.class);
    }
  }

  @Test
  void aPeerThatStopsWithinAFrameIsForgotten() throws Exception {
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

  /** A peer that says nothing, and one that only greets. */
  @Test
  void closesConnectionsWithoutAFinishedHandshake() throws Exception {
    open(false);
    Map<String, String> impatient = Map.of("spark.ddstore.io.connectionCreationTimeout", "1s");
    WireOptions options = TcpBackend.options(false, HERE, impatient);
    try (WireSession session = Wire.joinAlone(token, options);
        Stranger silent = new Stranger(session.local());
        Stranger greeting = new Stranger(session.local())) {
      ProcessAddress anybody = new ProcessAddress(HERE, 1, 5);
      ByteBuffer hello = Handshake.begin(token.id(), session.local(), anybody).hello();
      byte[] request = new byte[hello.remaining()];
      hello.get(request);
      greeting.send(Stranger.request(request));
      CompletableFuture<Connection> peer = reader.connections().to(session.local());
      assertThat(peer.get().isAuthorised(token.id())).isTrue();
      silent.awaitRefusal();
      greeting.awaitRefusal();
      assertThat(peer.get().isActive()).as("a peer that has proved the token").isTrue();
    }
  }

  /** Otherwise the read waits until its deadline. */
  @Test
  void passesAnErrorOfANetworkThreadToTheRead() throws Exception {
    open(false);
    OutOfMemoryError error = new OutOfMemoryError("no staging");
    Segment ragged = raggedSegment();
    owner.export(ragged);
    try (RemoteRead read = new RemoteRead(reader, ragged, owner.local(), PATIENCE)) {
      read.beforeStaging(
          () -> {
            throw error;
          });
      assertThatThrownBy(() -> read.row(0)).isSameAs(error);
      read.beforeStaging(() -> {});
      assertThat(read.row(0)).isEqualTo(new byte[Integer.BYTES]);
    } finally {
      owner.withdraw(ragged);
      ragged.release();
    }
  }

  private static Segment raggedSegment() {
    try (SegmentWriter writer =
        SegmentWriter.create(Backing.DIRECT, null, "ragged", Schema.of(Field.bytes("x")))) {
      writer.append(ByteBuffer.allocate(Integer.BYTES));
      return writer.seal();
    }
  }

  /** An unexpected exception, and an error. */
  @Test
  void reportsAFailureOfTheServingSideToTheCaller() {
    open(false);
    ByteBuffer question = ByteBuffer.allocate(1);
    for (Throwable trouble :
        List.of(new IllegalStateException("no state"), new OutOfMemoryError("no memory"))) {
      owner
          .control()
          .serve(
              asked -> {
                throw trouble instanceof Error error ? sneaky(error) : (RuntimeException) trouble;
              });
      long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
      assertThatThrownBy(() -> reader.control().call(owner.local(), question, deadlineNs))
          .isExactlyInstanceOf(DDStoreException.class)
          .hasMessageContaining(trouble.toString());
      assertThat(reader.connections().isConnected(owner.local())).isTrue();
    }
  }

  @Test
  void interruptedThreadAsksNothing() {
    open(false);
    AtomicInteger questions = new AtomicInteger();
    owner.control().serve(asked -> ByteBuffer.allocate(questions.incrementAndGet()));
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    reader.control().call(owner.local(), ByteBuffer.allocate(1), deadlineNs);

    Thread.currentThread().interrupt();
    assertThatThrownBy(
            () -> reader.control().call(owner.local(), ByteBuffer.allocate(1), deadlineNs))
        .isExactlyInstanceOf(DDStoreException.class)
        .hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).as("the interrupt flag").isTrue();
    assertThat(questions).hasValue(1);
  }

  private static RuntimeException sneaky(Error error) {
    throw error;
  }

  /** The owner alone knows how long its records are. */
  @Test
  void rejectsRecordsShorterThanTheirFixedFields() throws Exception {
    open(false);
    Schema larger = Schema.of(Field.fixed("id", DType.INT64, 100), Field.bytes("x"));
    Segment ragged = raggedSegment();
    owner.export(ragged);
    SegmentAddress address =
        new SegmentAddress(
            ragged.nonce(),
            BootId.ofThisHost(),
            null,
            1,
            ragged.dataBytes(),
            "1@test",
            owner.local());
    Catalog catalog = Catalog.of(1, "rows", larger, List.of(address));
    StoreOptions options = StoreOptions.defaults().shortcut(false);
    try (AttachedStore store = AttachedStore.open(catalog, reader, options);
        Reader fixed = store.variable("rows").reader("id");
        Reader all = store.variable("rows").reader()) {
      for (Reader one : List.of(fixed, all)) {
        assertThatThrownBy(() -> one.getBatch(0).close())
            .isExactlyInstanceOf(DDStoreException.class)
            .hasMessageContaining("has 4 bytes, which its lengths contradict");
      }
      Tensor tensor = Tensor.wrap(new long[100], 1, 100);
      assertThatThrownBy(() -> fixed.getBatch(tensor, 0))
          .hasMessageContaining("has 4 bytes, which its lengths contradict");
    } finally {
      owner.withdraw(ragged);
      ragged.release();
    }
  }

  /** The route may be back before the deadline of a read. */
  @Test
  void doesNotReportAHostWithoutARouteAsLost() {
    open(false);
    TransportContext context =
        new TransportContext(
            TcpBackend.options(false, HERE).transportConf(), new NoOpRpcHandler(), true);
    try (context;
        TransportClientFactory noRoute =
            new TransportClientFactory(context, List.of()) {
              @Override
              public TransportClient createUnmanagedClient(String host, int port)
                  throws IOException {
                throw new IOException("cannot connect", new NoRouteToHostException("No route"));
              }
            }) {
      Connections connections =
          new Connections(reader.local(), noRoute, Runnable::run, SHORT, lost -> {});
      ProcessAddress peer = owner.local();
      assertThatThrownBy(() -> connections.to(peer, token).get())
          .hasRootCauseInstanceOf(NoRouteToHostException.class);
      assertThat(connections.mayBeAlive(peer)).isTrue();
      assertThat(connections.isConnected(peer)).as("the next read connects again").isFalse();
    }
  }

  @Test
  void treatsOnlyARefusedConnectionAsALostProcess() {
    open(false);
    assertThat(
            Connections.isNobodyListening(new IOException(new NoRouteToHostException("No route"))))
        .isFalse();
    assertThat(
            Connections.isNobodyListening(
                new IOException(new ConnectException("Connection refused: x"))))
        .isTrue();
    assertThat(
            Connections.isNobodyListening(
                new IOException(new ConnectException("connection timed out"))))
        .isFalse();
    assertThat(Connections.isNobodyListening(new IOException("timed out"))).isFalse();
  }
}
