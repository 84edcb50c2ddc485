package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.ddstore.Backing;
import org.ddstore.DType;
import org.ddstore.Field;
import org.ddstore.ProcessAddress;
import org.ddstore.Schema;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whoever reaches the port of a network end and is no peer is refused, and nothing else happens:
 * two ranks read and reduce over the same network end meanwhile, on connections that live on.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
abstract class StrangersContract {
  private static final String HERE = "127.0.0.1";
  private static final String CREATION_TIMEOUT = "spark.ddstore.io.connectionCreationTimeout";
  private static final String AUTHENTICATION_TIMEOUT = "spark.network.auth.rpcTimeout";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final boolean guarded;
  private final StoreToken token = StoreToken.random();
  private final StoreToken other = StoreToken.random();
  private final long liveBytes = OffHeapBuffer.liveBytes();

  private final LogTap log = LogTap.open();
  private Segment segment;
  private WireSession attacked;
  private WireSession ofOther;
  private Traffic traffic;
  private SparkClients clients;
  private ProcessAddress address;
  private Set<Integer> peers;

  /**
   * @param guarded whether Spark's authentication and encryption are on
   */
  StrangersContract(boolean guarded) {
    this.guarded = guarded;
  }

  @BeforeAll
  void start() throws Exception {
    WireOptions options = TcpBackend.options(guarded, HERE);
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
    await("strangers are gone").atMost(PATIENCE).until(() -> connections().equals(peers));
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
      List<String> refusals = log.of(Refusals.class);
      System.out.println(getClass().getSimpleName() + ", said of strangers: " + refusals);
      assertThat(refusals.stream().map(StrangersContract::withoutDetail))
          .as("one line a cause and host")
          .doesNotHaveDuplicates();
    }
  }

  /** {@code refused a connection from HOST: CAUSE[: DETAIL]; further ones ..}. */
  private static String withoutDetail(String line) {
    return line.split(":", 3)[0] + line.split("[:;]", 3)[1];
  }

  @Test
  void randomBytes() throws IOException {
    long seed = System.nanoTime();
    System.out.println("randomBytes: seeds from " + seed + " on");
    for (int i = 0; i < 100; i++) {
      Random random = new Random(seed + i);
      byte[] bytes = new byte[1 << random.nextInt(18)];
      random.nextBytes(bytes);
      try (Stranger stranger = new Stranger(address)) {
        stranger.send(bytes).end();
        stranger.awaitRefusal();
      }
    }
  }

  @Test
  void framesOfAnyLength() throws IOException {
    long[] lengths = {
      -1,
      0,
      1,
      8,
      9,
      12,
      20,
      (64 << 10) + 1,
      1 << 20,
      Integer.MAX_VALUE,
      1L << 31,
      1L << 32,
      Long.MAX_VALUE,
      Long.MIN_VALUE,
      -(1L << 31)
    };
    for (long length : lengths) {
      try (Stranger stranger = new Stranger(address)) {
        stranger.send(Stranger.frame(length, Stranger.RPC_REQUEST, new byte[1 << 20]));
        stranger.awaitRefusal();
      }
    }
  }

  /** Chunks, streams, uploads, answers, and what there is no kind of. */
  @Test
  void framesOfAnyType() throws IOException {
    for (int type = Byte.MIN_VALUE; type <= Byte.MAX_VALUE; type++) {
      if (type != Stranger.RPC_REQUEST) {
        try (Stranger stranger = new Stranger(address)) {
          stranger.send(Stranger.frame((byte) type, new byte[64]));
          stranger.awaitRefusal();
        }
      }
    }
  }

  @Test
  void framesThatEndTooEarly() throws IOException {
    byte[] frame = Stranger.request(hello());
    for (int length = 0; length < frame.length; length += 1 + length / 8) {
      try (Stranger stranger = new Stranger(address)) {
        stranger.send(Arrays.copyOf(frame, length)).end();
        stranger.awaitRefusal();
      }
    }
  }

  private byte[] hello() {
    return bytes(Handshake.begin(token.id(), address, anybody()).hello());
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  /** Whom nobody knows. */
  private static ProcessAddress anybody() {
    return new ProcessAddress(HERE, 1, new Random().nextLong());
  }

  @Test
  void requestsThatAreNone() throws Exception {
    long seed = System.nanoTime();
    System.out.println("requestsThatAreNone: seeds from " + seed + " on");
    for (int i = 0; i < 50; i++) {
      Random random = new Random(seed + i);
      byte[] request = new byte[random.nextInt(200)];
      random.nextBytes(request);
      if (request.length > 0 && random.nextBoolean()) {
        request[0] = (byte) random.nextInt(6);
      }
      try (SparkClients.Client client = clients.connect(address)) {
        byte status = client.statusOf(ByteBuffer.wrap(request));
        assertThat(status).as("seed %d", seed + i).isIn(Status.REFUSED, Status.OTHER_PROCESS);
        assertThat(status == Status.OTHER_PROCESS || client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void greetingsThatEndTooEarly() throws Exception {
    byte[] hello = hello();
    int shortest = hello.length - HERE.length();
    for (int length = 1; length <= shortest; length += 5) {
      try (SparkClients.Client client = clients.connect(address)) {
        assertThat(client.statusOf(ByteBuffer.wrap(hello, 0, length))).isEqualTo(Status.REFUSED);
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void rowsWithoutAProof() throws Exception {
    try (SparkClients.Client client = clients.connect(address)) {
      assertThat(client.statusOf(rows(token))).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
    try (SparkClients.Client client = clients.connect(address)) {
      assertThat(client.statusOf(ByteBuffer.wrap(hello()))).isEqualTo(Status.OK);
      assertThat(client.statusOf(rows(token))).as("greeted only").isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  /** A request that is answered if the token was proved. */
  private ByteBuffer rows(StoreToken ofStore) {
    return GatherRequests.of(ofStore.id(), false, 0, 100, segment.nonce(), 0, 1);
  }

  @Test
  void messagesWithoutAProof() throws Exception {
    try (SparkClients.Client client = clients.connect(address)) {
      client.say(message(token.id(), new byte[40]));
      assertThat(client.isRefused()).isTrue();
    }
  }

  private static ByteBuffer message(Nonce store, byte[] text) {
    ByteBuffer message =
        ByteBuffer.allocate(1 + Handshake.STORE_BYTES + text.length).put(WireHandler.MESSAGE);
    Handshake.putStore(message, store);
    return message.put(text).flip();
  }

  @Test
  void aProofByAnotherToken() throws Exception {
    byte[] proof = new byte[1 + Handshake.STORE_BYTES + 32];
    ByteBuffer wrong = ByteBuffer.wrap(proof).put(Handshake.PROOF);
    Handshake.putStore(wrong, token.id());
    wrong.put(other.sign(hello())).flip();
    try (SparkClients.Client client = clients.connect(address)) {
      assertThat(client.statusOf(ByteBuffer.wrap(hello()))).isEqualTo(Status.OK);
      assertThat(client.statusOf(wrong)).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
    try (SparkClients.Client client = clients.connect(address)) {
      assertThat(client.statusOf(wrong.rewind())).as("no greeting").isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void theRowsOfAnotherStore() throws Exception {
    try (SparkClients.Client client = clients.connect(address)) {
      client.prove(other, anybody());
      assertThat(client.statusOf(rows(other))).as("it has no such rows").isEqualTo(Status.GONE);
      assertThat(client.statusOf(rows(token))).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
    try (SparkClients.Client client = clients.connect(address)) {
      client.prove(other, anybody());
      client.say(message(token.id(), new byte[40]));
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void aStoreThatIsNotHere() throws Exception {
    StoreToken unknown = StoreToken.random();
    try (SparkClients.Client client = clients.connect(address)) {
      ByteBuffer hello = Handshake.begin(unknown.id(), address, anybody()).hello();
      assertThat(client.statusOf(hello)).isEqualTo(Status.GONE);
    }
  }

  @Test
  void aRecordedHandshake() throws Exception {
    byte[] recorded;
    try (Recorder recorder = new Recorder(address);
        WireSession genuine = Wire.joinAlone(token, TcpBackend.options(guarded, HERE))) {
      Connection connection = genuine.connection(recorder.address()).get();
      assertThat(connection.isAuthorised(token.id())).isTrue();
      recorded = recorder.said();
    }
    try (Stranger stranger = new Stranger(address)) {
      stranger.send(recorded).awaitRefusal();
    }
    try (Stranger stranger = new Stranger(address)) {
      stranger.send(recorded).send(Stranger.request(bytes(rows(token)))).awaitRefusal();
    }
  }

  @Test
  void theSameProofTwice() throws Exception {
    try (SparkClients.Client client = clients.connect(address)) {
      ByteBuffer proof = client.prove(token, anybody());
      assertThat(client.statusOf(rows(token))).isEqualTo(Status.OK);
      assertThat(client.statusOf(proof)).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aServerThatIsNoPeer(boolean unasked) throws Exception {
    byte[] text = ByteBuffer.allocate(12).putLong(7).putInt(Integer.MAX_VALUE).array();
    byte[] status = ByteBuffer.allocate(13).putLong(7).putInt(1).array();
    List<byte[]> answers =
        List.of(
            Stranger.frame(Stranger.RPC_FAILURE, text),
            Stranger.frame(Stranger.RPC_RESPONSE, status),
            Stranger.request(hello()),
            Stranger.frame(Integer.MAX_VALUE, Stranger.RPC_RESPONSE, new byte[1 << 16]));
    Map<String, String> impatient = Map.of(CREATION_TIMEOUT, "1s", AUTHENTICATION_TIMEOUT, "1s");
    WireOptions options = TcpBackend.options(guarded, HERE, impatient);
    try (WireSession session = Wire.joinAlone(token, options)) {
      for (byte[] answer : answers) {
        String host = unasked ? "127.0.0.3" : "127.0.0.4"; // tells its lines in the log
        try (Impostor impostor = new Impostor(host, answer, unasked)) {
          assertThatThrownBy(() -> session.connection(impostor.address()).get())
              .isInstanceOf(ExecutionException.class);
          impostor.awaitEnd();
        }
      }
    }
  }

  @Test
  void aServerWithAnotherToken() throws Exception {
    Handshake handshake = Handshake.begin(token.id(), address, anybody());
    ByteBuffer wrong =
        ByteBuffer.allocate(1 + 32 + 32).put(Status.OK).put(new byte[32]).put(other.sign(hello()));
    assertThatThrownBy(() -> handshake.prove(wrong.flip().position(1), token))
        .isInstanceOf(SecurityException.class)
        .hasMessageContaining("does not have the token");
  }

  @Test
  void framesOfAPeerThatNoPeerSends() throws Exception {
    byte[] failure =
        ByteBuffer.allocate(Long.BYTES + Integer.BYTES + 4)
            .putLong(7)
            .putInt(Integer.MAX_VALUE)
            .array();
    List<byte[]> frames =
        List.of(
            Stranger.frame(Stranger.RPC_FAILURE, failure),
            Stranger.frame((4 << 20) + 1, Stranger.RPC_REQUEST, new byte[20]),
            Stranger.frame(-1, Stranger.ONE_WAY, new byte[20]),
            Stranger.frame((byte) 0, new byte[20]),
            Stranger.frame((byte) 6, new byte[20]),
            Stranger.frame((byte) 10, new byte[20]));
    for (byte[] frame : frames) {
      try (SparkClients.Client client = clients.connect(address)) {
        client.prove(token, anybody());
        client.sendBytes(frame);
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void messagesOfAPeerThatNoPeerSends() throws Exception {
    long seed = System.nanoTime();
    System.out.println("messagesOfAPeerThatNoPeerSends: seeds from " + seed + " on");
    for (int i = 0; i < 20; i++) {
      byte[] text = new byte[new Random(seed + i).nextInt(300)];
      new Random(seed + i).nextBytes(text);
      if (text.length > 0) {
        text[0] = (byte) (4 + i); // no kind of message
      }
      try (SparkClients.Client client = clients.connect(address)) {
        client.prove(token, anybody());
        client.say(message(token.id(), text));
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void requestsOfAPeerThatNoPeerSends() throws Exception {
    List<ByteBuffer> requests =
        List.of(
            GatherRequests.of(token.id(), false, -1, 100, segment.nonce(), 0, 1),
            GatherRequests.of(token.id(), false, 101, 100, segment.nonce(), 0, 1),
            GatherRequests.of(token.id(), false, 0, 1 << 30, segment.nonce(), 0, 1),
            GatherRequests.of(token.id(), false, 0, 100, segment.nonce(), 1000, 1),
            GatherRequests.of(token.id(), false, 0, 100, segment.nonce(), Long.MAX_VALUE, 1),
            GatherRequests.of(token.id(), false, 0, 100, segment.nonce(), 0, 0),
            GatherRequests.of(token.id(), false, 0, 100, segment.nonce(), 0, -1),
            GatherRequests.of(token.id(), false, 0, 100, segment.nonce(), 0, Integer.MAX_VALUE),
            GatherRequests.of(token.id(), false, 0, 100, segment.nonce()));
    for (ByteBuffer request : requests) {
      try (SparkClients.Client client = clients.connect(address)) {
        client.prove(token, anybody());
        assertThat(client.statusOf(request)).isEqualTo(Status.REFUSED);
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void aCrowdThatResetsItsConnections() throws Exception {
    for (int i = 0; i < 200; i++) {
      try (Stranger stranger = new Stranger(address)) {
        stranger.send(Stranger.request(hello())).reset();
      }
    }
  }

  @Test
  void aSecondHostIsReportedToo() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (Stranger stranger = new Stranger(address, "127.0.0.2")) {
        stranger.send(Stranger.frame((byte) 0, new byte[64])).awaitRefusal();
      }
    }
    assertThat(log.of(Refusals.class)).filteredOn(line -> line.contains("127.0.0.2")).hasSize(1);
  }
}
