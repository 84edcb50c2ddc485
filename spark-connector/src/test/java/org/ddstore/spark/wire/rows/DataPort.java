// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.spark.wire.LogTap;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.ReadGrants;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A data port with the rows of one store, which outsiders may read once its grants are open. */
@Timeout(60)
abstract class DataPort {
  static final String HERE = "127.0.0.1";

  /** Id of the process, as readers know it. */
  static final long PROCESS = 0x1234_5678_9abc_def0L;

  private static final Duration LIFE = Duration.ofSeconds(20);
  static final int GREETING_BYTES = Integer.BYTES + Handshake.STORE_BYTES;
  static final int SMALL_BYTES = 300;
  static final int LARGE_BYTES = 100_000;

  private final StoreToken token = StoreToken.random();
  private final Nonce store = token.id();
  private final ReadGrants grants = new ReadGrants(token);
  private final GatherServer rows = new GatherServer();
  private final List<Socket> sockets = new ArrayList<>();
  private final long liveBytes = OffHeapBuffer.liveBytes();
  private final LogTap log = LogTap.open();
  private Segment small;
  private Segment large;
  private Segment ragged;
  private DataServer server;

  /** Returns whether C answers the requests that it can. */
  boolean inC() {
    return true;
  }

  @BeforeEach
  void start() throws IOException {
    small = fixed(SMALL_BYTES, 5000);
    large = fixed(LARGE_BYTES, 50);
    ragged = raggedRows();
    List.of(small, large, ragged).forEach(rows::export);
    server = server(LIFE);
  }

  private DataServer server(Duration life) throws IOException {
    return server(life, name -> name.equals(store) ? rows : null);
  }

  private DataServer server(Duration life, Function<Nonce, GatherServer> stores)
      throws IOException {
    ServedStores served =
        new ServedStores() {
          @Override
          public long processId() {
            return PROCESS;
          }

          @Override
          public GatherServer rows(Nonce name) {
            return stores.apply(name);
          }

          @Override
          public ReadGrants grants(Nonce name) {
            return name.equals(store) ? grants : null;
          }
        };
    return new DataServer(HERE, 0, 1, served, inC(), new RefusalLog(), life);
  }

  /** Starts the server again, with other stores. */
  void restart(Function<Nonce, GatherServer> stores) throws IOException {
    server.close();
    server = server(LIFE, stores);
  }

  /** Starts the server again, with another time within which peers must be admitted. */
  void restart(Duration life) throws IOException {
    server.close();
    server = server(life);
  }

  DataServer server() {
    return server;
  }

  StoreToken token() {
    return token;
  }

  Nonce store() {
    return store;
  }

  ReadGrants grants() {
    return grants;
  }

  LogTap log() {
    return log;
  }

  GatherServer rows() {
    return rows;
  }

  Segment small() {
    return small;
  }

  Segment large() {
    return large;
  }

  Segment ragged() {
    return ragged;
  }

  static Segment fixed(int bytes, int count) {
    Schema schema = Schema.of(Field.fixed("x", DType.UINT8, bytes));
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "fixed", schema)) {
      for (int row = 0; row < count; row++) {
        writer.append(ByteBuffer.wrap(record(row, bytes)));
      }
      return writer.seal();
    }
  }

  private static Segment raggedRows() {
    Schema schema = Schema.of(Field.bytes("x"));
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "ragged", schema)) {
      for (int row = 0; row < 200; row++) {
        writer.append(ByteBuffer.wrap(raggedRecord(row)));
      }
      return writer.seal();
    }
  }

  static byte[] record(long row, int bytes) {
    byte[] record = new byte[bytes];
    new Random(row).nextBytes(record);
    return record;
  }

  /** Some are large enough to be sent without packing, and some are empty. */
  static byte[] raggedRecord(long row) {
    int bytes = row % 7 == 0 ? 20_000 : (int) row % 5 * 40;
    return ByteBuffer.allocate(Integer.BYTES + bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(bytes)
        .put(record(row, bytes))
        .array();
  }

  @AfterEach
  void nothingIsLeft() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    server.close();
    rows.close();
    List.of(small, large, ragged).forEach(Segment::release);
    log.close();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(liveBytes);
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("ddstore-data"));
  }

  Socket connect() throws IOException {
    return connect(new Socket());
  }

  Socket connect(Socket socket) throws IOException {
    sockets.add(socket);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(20_000);
    return socket;
  }

  static byte[] greeting(int magic, Nonce key) {
    ByteBuffer greeting = ByteBuffer.allocate(GREETING_BYTES).putInt(magic);
    Handshake.putStore(greeting, key);
    return greeting.array();
  }

  /** Shows a ticket and checks that the server knows it. */
  Socket admit(Socket socket) throws IOException {
    return admit(socket, store);
  }

  Socket admit(Socket socket, Nonce named) throws IOException {
    DataTickets.Ticket ticket = server.issue(named);
    socket.getOutputStream().write(greeting(Admission.TICKET, ticket.key()));
    byte[] proof = socket.getInputStream().readNBytes(Handshake.STORE_BYTES);
    assertThat(Handshake.getStore(ByteBuffer.wrap(proof))).isEqualTo(ticket.proof());
    return socket;
  }

  byte[] frame(boolean lengths, int skip, int bytes, Segment segment, long... runs) {
    ByteBuffer all = GatherRequests.of(store, lengths, skip, bytes, segment.nonce(), runs);
    all.position(1 + Handshake.STORE_BYTES);
    return ByteBuffer.allocate(Integer.BYTES + all.remaining())
        .putInt(all.remaining())
        .put(all)
        .array();
  }

  /** Reads a reply without lengths of one segment. */
  static byte[] reply(InputStream in, int bytes, Segment segment) throws IOException {
    DataInputStream data = new DataInputStream(in);
    assertThat(data.readByte()).isEqualTo(Status.OK);
    skipPadding(data, 1);
    byte[] records = data.readNBytes(bytes);
    assertThat(data.readByte()).isEqualTo(Status.OK);
    assertThat(data.readLong()).isEqualTo(segment.version());
    skipPadding(data, 1 + Long.BYTES);
    return records;
  }

  /** Reads the zeros that fill a part of a reply to a multiple of 64 bytes. */
  static void skipPadding(DataInputStream in, int partBytes) throws IOException {
    for (int i = partBytes; i % 64 != 0; i++) {
      assertThat(in.readByte()).isZero();
    }
  }

  static void assertRefused(Socket socket) throws IOException {
    try {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (SocketException e) {
      assertThat(e).hasMessageContaining("reset");
    }
  }
}
