// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.ddstore.contract.Untrusted;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadGrants;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.Backing;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests, replies and greetings of data channels. */
class RowBytesFuzzTest {
  private static final int NUMBER_BYTES = 16;
  private static final int ROWS = 9;
  private static final int RECORD_BYTES = 7;
  private static final long LIMIT_BYTES = 1 << 16;
  private static final Nonce STORE = new Nonce(1, 2);
  private static final ProcessAddress PEER = new ProcessAddress("h", 1, 1);
  private static final ReadClaims CLAIMS = new ReadClaims(STORE, "l", ReadClaims.NEVER);

  private static GatherServer server;
  private static Segment fixed;
  private static Segment ragged;

  @BeforeAll
  static void export() {
    server = new GatherServer();
    fixed = segment(Field.fixed("x", DType.UINT8, RECORD_BYTES));
    ragged = segment(Field.bytes("x"));
    server.export(fixed);
    server.export(ragged);
  }

  private static Segment segment(Field field) {
    try (SegmentWriter writer = SegmentWriter.create(Backing.DIRECT, null, "s", Schema.of(field))) {
      for (int row = 0; row < ROWS; row++) {
        ByteBuffer record =
            ByteBuffer.allocate(field.isRagged() ? Integer.BYTES + row : RECORD_BYTES);
        writer.append(record.order(ByteOrder.LITTLE_ENDIAN).putInt(0, field.isRagged() ? row : 7));
      }
      return writer.seal();
    }
  }

  @AfterAll
  static void nothingIsHeld() {
    long live = OffHeapBuffer.liveBytes();
    server.close();
    fixed.release();
    ragged.release();
    assertThat(OffHeapBuffer.liveBytes()).isLessThan(live);
  }

  private static byte[] request(boolean lengths, int skip, int bytes, long... runs) {
    ByteBuffer all = GatherRequests.of(STORE, lengths, skip, bytes, new Nonce(0, 0), runs);
    all.position(1 + Handshake.STORE_BYTES);
    byte[] body = new byte[all.remaining()];
    all.get(body);
    return body;
  }

  static List<byte[]> requests() {
    return List.of(
        request(false, 2, 10, 3, 2, 7, 1),
        request(true, 0, 100, 0, 9),
        request(true, 1, 1, 5, 1, 1, 1));
  }

  /** Requests for rows of both segments, whose numbers stand at the place of the first one. */
  @MethodSource("requests")
  @FuzzTest
  void request(byte[] bytes) {
    for (Segment segment : List.of(fixed, ragged)) {
      ByteBuffer request = ByteBuffer.wrap(bytes.clone());
      if (bytes.length >= GatherRequest.BODY_HEADER_BYTES + NUMBER_BYTES) {
        request.putLong(GatherRequest.BODY_HEADER_BYTES, segment.nonce().high());
        request.putLong(GatherRequest.BODY_HEADER_BYTES + Long.BYTES, segment.nonce().low());
      }
      Untrusted.parse(
              () -> server.serve(request),
              IllegalArgumentException.class,
              BufferUnderflowException.class,
              IndexOutOfBoundsException.class)
          .ifPresent(reply -> assertThat(reply.get()).isIn(Status.OK, Status.GONE));
    }
  }

  static List<byte[]> replies() {
    return List.of(
        server.serve(named(request(false, 0, 3 * RECORD_BYTES, 0, 3), fixed)).array(),
        server.serve(named(request(true, 0, 100, 0, 3), ragged)).array());
  }

  private static ByteBuffer named(byte[] request, Segment segment) {
    ByteBuffer named = ByteBuffer.wrap(request);
    named.putLong(GatherRequest.BODY_HEADER_BYTES, segment.nonce().high());
    return named.putLong(GatherRequest.BODY_HEADER_BYTES + Long.BYTES, segment.nonce().low());
  }

  /** Replies of an owner to a request for three rows, and for what follows from the lengths. */
  @MethodSource("replies")
  @FuzzTest
  void reply(byte[] bytes) {
    for (int recordBytes : new int[] {RECORD_BYTES, 0}) {
      StagingBudget budget = new StagingBudget();
      budget.begin(LIMIT_BYTES);
      PeerRows rows = new PeerRows(PEER, budget);
      try {
        rows.begin();
        rows.reserveRows(3);
        rows.beginRun(new RemoteSegment(STORE, PEER, 0, 3, recordBytes), 0, 0);
        for (int row = 0; row < 3; row++) {
          rows.addRow();
        }
        rows.endRuns();
        ReceivedRows received = new ReceivedRows(rows);
        received.restart();
        Untrusted.parse(
            () -> take(received, ByteBuffer.wrap(bytes)),
            DDStoreException.class,
            BatchTooLargeException.class,
            BufferUnderflowException.class);
      } finally {
        rows.free();
      }
    }
  }

  private static boolean take(ReceivedRows received, ByteBuffer replies) {
    while (replies.hasRemaining()) {
      GatherRequest piece = received.nextPiece(GatherRequest.CONNECTION_PIECE_BYTES);
      if (piece == null || replies.get() != Status.OK) {
        break;
      }
      received.takeAll(piece, replies);
      int excess = replies.remaining() - received.tailBytes(piece);
      if (excess < 0) {
        throw new BufferUnderflowException();
      }
      ByteBuffer tail = replies.slice(replies.position(), received.tailBytes(piece));
      replies.position(replies.limit() - excess);
      if (!received.takeTail(piece, tail)) {
        break;
      }
    }
    return received.isComplete();
  }

  static List<byte[]> greetings() {
    byte[] hello = Handshake.begin(STORE, PEER.id(), CLAIMS.toBytes()).hello().array();
    return List.of(
        ByteBuffer.allocate(20).putInt(Admission.TICKET).array(),
        ByteBuffer.allocate(8 + hello.length + Handshake.PROOF_MESSAGE_BYTES)
            .putInt(Admission.READ_KEY)
            .putInt(hello.length)
            .put(hello)
            .put(Handshake.PROOF)
            .array());
  }

  /** The beginning of a data channel, which nobody without a key gets past. */
  @MethodSource("greetings")
  @FuzzTest
  void greeting(byte[] bytes) {
    ReadGrants grants = new ReadGrants(StoreToken.random());
    grants.open(Set.of());
    ServedStores stores =
        new ServedStores() {
          @Override
          public long processId() {
            return PEER.id();
          }

          @Override
          public GatherServer rows(Nonce store) {
            return server;
          }

          @Override
          public ReadGrants grants(Nonce store) {
            return store.equals(STORE) ? grants : null;
          }
        };
    Admission admission = new Admission(new DataTickets(Duration.ofMinutes(1)), stores);
    assertThat(
            Untrusted.parse(
                () -> admission.read(new Sent(ByteBuffer.wrap(bytes))),
                SecurityException.class,
                IllegalArgumentException.class,
                IOException.class))
        .isEmpty();
  }

  /** A channel on which bytes have arrived, and no more come. */
  private record Sent(ByteBuffer bytes) implements ByteChannel {
    @Override
    public int read(ByteBuffer target) {
      if (!bytes.hasRemaining()) {
        return -1;
      }
      int count = Math.min(target.remaining(), bytes.remaining());
      target.put(bytes.slice(bytes.position(), count));
      bytes.position(bytes.position() + count);
      return count;
    }

    @Override
    public int write(ByteBuffer source) {
      int count = source.remaining();
      source.position(source.limit());
      return count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
