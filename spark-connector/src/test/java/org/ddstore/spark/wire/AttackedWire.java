// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.spark.wire.calls.WireMessenger;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.spark.wire.rows.GatherRequests;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * A network end with a store, over which two ranks read and reduce while a test does harm to it:
 * nothing may happen to them, to their connections, or to the process.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
abstract class AttackedWire {
  static final String HERE = "127.0.0.1";

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final boolean guarded;
  private final Map<String, String> settings;
  private final StoreToken token = StoreToken.random();
  private final StoreToken other = StoreToken.random();
  private final long liveBytes = OffHeapBuffer.liveBytes();
  private final LogTap log = LogTap.open();
  private final long startNs = System.nanoTime();
  private Segment segment;
  private WireSession attacked;
  private WireSession ofOther;
  private Traffic traffic;
  private SparkClients clients;
  private ProcessAddress address;
  private Set<Integer> peers;

  /**
   * @param guarded whether Spark's authentication and encryption are on
   * @param settings of Spark, besides
   */
  AttackedWire(boolean guarded, Map<String, String> settings) {
    this.guarded = guarded;
    this.settings = settings;
  }

  @BeforeAll
  void start() throws Exception {
    WireOptions options = options(Map.of());
    attacked = Wire.join(token, options);
    ofOther = Wire.join(other, options);
    address = attacked.local();
    segment = segmentOfZeros();
    attacked.export(segment);
    traffic = new Traffic(attacked, Wire.joinAlone(token, options));
    clients = new SparkClients(options);
    peers = connections();
  }

  private static Segment segmentOfZeros() {
    Schema schema = Schema.of(Field.fixed("x", DType.UINT8, 100));
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "zeros", schema)) {
      writer.appendZeros(1000);
      return writer.seal();
    }
  }

  /** The ports from which connections to the network end come. */
  private Set<Integer> connections() throws IOException {
    return TcpConnection.inNetworkOf(ProcessHandle.current().pid()).stream()
        .filter(connection -> connection.localPort() == address.port())
        .map(TcpConnection::remotePort)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @AfterEach
  void nobodyElseIsConcerned() throws Exception {
    traffic.assertFlows();
    await("strangers are gone")
        .pollInterval(Duration.ofMillis(5))
        .atMost(PATIENCE)
        .until(() -> connections().equals(peers));
  }

  @AfterAll
  void end() throws Exception {
    try (log) {
      clients.close();
      traffic.close();
      attacked.withdraw(segment);
      segment.release();
      ofOther.close();
      await("threads end")
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(Thread.getAllStackTraces().keySet())
                      .noneMatch(thread -> thread.getName().startsWith("ddstore-")));
      assertThat(connections()).isEmpty();
      assertThat(OffHeapBuffer.liveBytes()).isEqualTo(liveBytes);
      System.out.println(getClass().getSimpleName() + ", said of strangers: " + refusals());
      long seconds = Duration.ofNanos(System.nanoTime() - startNs).toSeconds();
      assertThat(
              refusals().stream()
                  .collect(Collectors.groupingBy(AttackedWire::host, Collectors.counting()))
                  .values())
          .as("one line a host and interval")
          .allMatch(lines -> lines <= 2 + seconds / RefusalLog.INTERVAL.toSeconds());
    }
  }

  /** {@code peer HOST: connection refused: CAUSE[: DETAIL]; 0 more before, ..}. */
  private static String host(String line) {
    assertThat(line).matches("peer [^:]+: connection refused: .*");
    return line.split(":", 2)[0];
  }

  /** Returns the log lines of this JVM other than refusals. */
  final List<LogTap.Line> otherLines() {
    return log.lines().stream()
        .filter(line -> !line.logger().equals(RefusalLog.class.getSimpleName()))
        .toList();
  }

  /** Returns the token of the attacked store. */
  final StoreToken token() {
    return token;
  }

  /** Returns the token of a store without rows at the same network end. */
  final StoreToken other() {
    return other;
  }

  /** Returns the address that the network end listens on. */
  final ProcessAddress address() {
    return address;
  }

  /** Returns 1,000 rows of 100 bytes, which only the attacker reads. */
  final Segment segment() {
    return segment;
  }

  /** Returns the options of the network end with additional settings. */
  final WireOptions options(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(settings);
    all.putAll(more);
    return TcpBackend.options(guarded, HERE, all);
  }

  /** Opens a connection as any process of the application can. */
  final SparkClients.Client connect() throws IOException, InterruptedException {
    return clients.connect(address);
  }

  /** Returns the log lines of refusals. */
  final List<String> refusals() {
    return log.of(RefusalLog.class);
  }

  final byte[] hello() {
    return bytes(Handshake.begin(token.id(), address, anybody()).hello());
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  /** The address of a process that no peer knows. */
  static ProcessAddress anybody() {
    return new ProcessAddress(HERE, 1, new Random().nextLong());
  }

  /** A request that is answered if the token was proved. */
  final ByteBuffer rows(StoreToken ofStore) {
    return GatherRequests.of(ofStore.id(), false, 0, 100, segment.nonce(), 0, 1);
  }

  static ByteBuffer message(Nonce store, byte[] text) {
    ByteBuffer message =
        ByteBuffer.allocate(1 + Handshake.STORE_BYTES + text.length).put(WireMessenger.MESSAGE);
    Handshake.putStore(message, store);
    return message.put(text).flip();
  }
}
