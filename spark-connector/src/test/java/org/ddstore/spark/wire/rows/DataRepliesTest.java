// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.ddstore.memory.Nonce;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replies of owners that the test plays, received in C as far as it can. */
@Timeout(60)
class DataRepliesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int RECORD_BYTES = 40;
  private static final long PAUSE_MS = 2;

  /** More than the lengths of the largest request, and less than a socket holds. */
  private static final int FOLLOWING_BYTES = 90_000;

  private final ExecutorService owners = Executors.newCachedThreadPool();
  private GatherReader reader;

  boolean mayUseC() {
    return true;
  }

  @BeforeEach
  void open() {
    reader = new GatherReader(null, TIMEOUT, mayUseC());
    reader.fetch(List.of()); // opens the selector
  }

  @AfterEach
  void close() throws InterruptedException {
    reader.close();
    owners.shutdownNow();
    assertThat(owners.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
  }

  /** The text arrives together with the replies to the next requests, in place of lengths. */
  @Test
  void failureOfTheLargestRequestForLengthsIsReported() throws Exception {
    try (Owner owner = new Owner(1)) {
      PeerRows rows = owner.rows(2 * GatherRequest.MAX_ROWS, 0);
      byte[] failure = failure("no memory");
      owner.send(Arrays.copyOf(failure, failure.length + FOLLOWING_BYTES));
      assertThatThrownBy(() -> reader.fetch(List.of(rows)))
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("cannot read rows of rank 3")
          .hasMessageEndingWith("no memory");
      assertThat(rows.isSilent()).as("another copy is tried").isTrue();
    }
  }

  @Test
  void receivesRowsThatArriveInTwoParts() throws Exception {
    try (Owner owner = new Owner(1)) {
      PeerRows rows = owner.rows(3, RECORD_BYTES);
      byte[] reply = reply(3 * RECORD_BYTES);
      for (int first = 0; first < reply.length; first += 7) {
        rows = owner.rows(3, RECORD_BYTES);
        fetch(owner, rows, reply, first);
        assertThat(received(rows)).isEqualTo(data(3 * RECORD_BYTES));
      }
      assertThat(owner.channel.isInC()).isEqualTo(mayUseC() && NativeLibrary.isLoaded());
    }
  }

  @Test
  void receivesLengthsAndRaggedRowsThatArriveInTwoParts() throws Exception {
    try (Owner owner = new Owner(1)) {
      byte[] reply = reply(60, 10, 20, 30);
      for (int first = 0; first < reply.length; first += 5) {
        PeerRows rows = owner.rows(3, 0);
        fetch(owner, rows, reply, first);
        assertThat(received(rows)).isEqualTo(data(60));
        assertThat(rows.start(1)).isEqualTo(10);
        assertThat(rows.start(2)).isEqualTo(30);
      }
    }
  }

  /** The next reply must not be taken for a part of the one before it. */
  @Test
  void receivesAllPiecesOfManyRows() throws Exception {
    int count = 3 * GatherRequest.CHANNEL_PIECE_BYTES / RECORD_BYTES;
    int rowsOfPiece = GatherRequest.MAX_ROWS;
    try (Owner owner = new Owner(1)) {
      PeerRows rows = owner.rows(count, RECORD_BYTES);
      Future<?> sent =
          owners.submit(
              () -> {
                for (int row = 0; row < count; row += rowsOfPiece) {
                  owner.send(reply(Math.min(rowsOfPiece, count - row) * RECORD_BYTES));
                }
                return null;
              });
      reader.fetch(List.of(rows));
      sent.get();
      byte[] all = received(rows);
      for (int row = 0; row < count; row += rowsOfPiece) {
        int end = Math.min(row + rowsOfPiece, count);
        assertThat(Arrays.copyOfRange(all, row * RECORD_BYTES, end * RECORD_BYTES))
            .isEqualTo(data((end - row) * RECORD_BYTES));
      }
    }
  }

  /** Rows that follow the first piece are requested while another owner is silent. */
  @Test
  void receivesAllPiecesOfRaggedRowsBeforeAnotherOwnerReplies() throws Exception {
    int length = GatherRequest.CHANNEL_PIECE_BYTES / 2 + 1000;
    byte[] all = data(3 * length);
    int firstBytes = GatherRequest.CHANNEL_PIECE_BYTES;
    try (Owner owner = new Owner(1);
        Owner silent = new Owner(2)) {
      PeerRows ragged = owner.rows(3, 0);
      PeerRows others = silent.rows(2, RECORD_BYTES);
      Future<?> sent =
          owners.submit(
              () -> {
                owner.send(reply(Arrays.copyOf(all, firstBytes), length, length, length));
                owner.awaitRequests(2);
                owner.send(reply(Arrays.copyOfRange(all, firstBytes, all.length)));
                silent.send(reply(2 * RECORD_BYTES));
                return null;
              });
      reader.fetch(List.of(ragged, others));
      sent.get();
      assertThat(received(ragged)).isEqualTo(all);
      assertThat(received(others)).isEqualTo(data(2 * RECORD_BYTES));
    }
  }

  @Test
  void receivesFromSeveralOwners() throws Exception {
    try (Owner first = new Owner(1);
        Owner second = new Owner(2)) {
      for (int i = 0; i < 50; i++) {
        PeerRows early = first.rows(5, RECORD_BYTES);
        PeerRows late = second.rows(2, RECORD_BYTES);
        first.send(reply(5 * RECORD_BYTES));
        Future<?> sent = owners.submit(() -> second.sendInTwo(reply(2 * RECORD_BYTES), 70));
        reader.fetch(List.of(early, late));
        sent.get();
        assertThat(received(early)).isEqualTo(data(5 * RECORD_BYTES));
        assertThat(received(late)).isEqualTo(data(2 * RECORD_BYTES));
      }
    }
  }

  @Test
  void reportsFailuresWhereverTheirTextIsSplit() throws Exception {
    byte[] failure = failure("it failed there");
    for (int first = 0; first < failure.length; first += 3) {
      try (Owner owner = new Owner(first)) {
        PeerRows rows = owner.rows(3, RECORD_BYTES);
        int split = first;
        assertThatThrownBy(() -> fetch(owner, rows, failure, split))
            .isInstanceOf(DDStoreException.class)
            .hasMessageEndingWith("it failed there");
      }
    }
  }

  @Test
  void reportsThatTheStoreIsClosed() throws Exception {
    try (Owner owner = new Owner(1)) {
      PeerRows rows = owner.rows(3, RECORD_BYTES);
      assertThatThrownBy(() -> fetch(owner, rows, new byte[] {Status.GONE}, 0))
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("has closed the store");
      assertThat(rows.isGone()).isTrue();
    }
  }

  /** Rows that their rank was changing are requested again. */
  @Test
  void requestsChangingRowsAgain() throws Exception {
    try (Owner owner = new Owner(1)) {
      PeerRows rows = owner.rows(3, RECORD_BYTES);
      byte[] changing = reply(3 * RECORD_BYTES);
      changing[GatherReply.headBytes(0) + 3 * RECORD_BYTES] = 1; // status of the tail
      owner.send(changing);
      Future<?> sent =
          owners.submit(
              () -> {
                owner.awaitRequests(2);
                owner.send(reply(3 * RECORD_BYTES));
                return null;
              });
      reader.fetch(List.of(rows));
      sent.get();
      assertThat(received(rows)).isEqualTo(data(3 * RECORD_BYTES));
    }
  }

  /** A channel that ended while it was idle does not hold up the rows of others. */
  @Test
  void closesIdleChannelsThatEndOrSendBytes() throws Exception {
    for (boolean sends : new boolean[] {false, true}) {
      try (Owner idle = new Owner(1);
          Owner owner = new Owner(2)) {
        PeerRows rows = idle.rows(1, RECORD_BYTES);
        fetch(idle, rows, reply(RECORD_BYTES), 0);
        assertThat(reader.channelTo(idle.peer)).isSameAs(idle.channel);
        if (sends) {
          idle.send(new byte[3]);
        } else {
          idle.socket.shutdownOutput();
        }
        while (reader.channelTo(idle.peer) != null) { // until its bytes or its end have arrived
          PeerRows others = owner.rows(2, RECORD_BYTES);
          fetch(owner, others, reply(2 * RECORD_BYTES), 0);
          assertThat(received(others)).isEqualTo(data(2 * RECORD_BYTES));
        }
        assertThat(reader.channelTo(owner.peer)).isSameAs(owner.channel);
        reader.drop(owner.channel);
      }
    }
  }

  /** Fetches rows whose reply arrives in two parts. */
  private void fetch(Owner owner, PeerRows rows, byte[] reply, int firstBytes) throws Exception {
    Future<?> sent = owners.submit(() -> owner.sendInTwo(reply, firstBytes));
    try {
      reader.fetch(List.of(rows));
    } finally {
      sent.get();
    }
  }

  private static byte[] data(int bytes) {
    byte[] data = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      data[i] = (byte) (31 * i + i / 256);
    }
    return data;
  }

  private static byte[] received(PeerRows rows) {
    byte[] received = new byte[rows.start(rows.rows())];
    rows.staging().buffer().get(0, received);
    return received;
  }

  /** Returns a reply with lengths if there are some, and rows of one segment. */
  private static byte[] reply(int bytes, int... lengths) {
    return reply(data(bytes), lengths);
  }

  private static byte[] reply(byte[] rows, int... lengths) {
    int head = GatherReply.headBytes(lengths.length);
    ByteBuffer reply = ByteBuffer.allocate(head + rows.length + GatherReply.tailBytes(1));
    reply.put(Status.OK);
    for (int length : lengths) {
      reply.putInt(length);
    }
    reply.position(head).put(rows).put(Status.OK).putLong(2);
    return reply.array();
  }

  private static byte[] failure(String text) {
    ByteBuffer failure = Status.failedWithSize(text);
    byte[] bytes = new byte[failure.remaining()];
    failure.get(bytes);
    return bytes;
  }

  /** An owner with one channel, and the rows that are requested from it. */
  private final class Owner implements AutoCloseable {
    private final ProcessAddress peer;
    private final Socket socket;
    private final DataChannel channel;
    private final PeerRows rows;

    Owner(int number) throws Exception {
      peer = new ProcessAddress("127.0.0.1", 1, number);
      rows = new PeerRows(peer, new StagingBudget());
      DataTickets.Ticket ticket = new DataTickets.Ticket(Nonce.random(), Nonce.random());
      try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getByName(peer.host()))) {
        Future<Socket> accepted = owners.submit(() -> accept(listener, ticket));
        channel = DataChannel.open(peer, listener.getLocalPort(), ticket, TIMEOUT);
        socket = accepted.get();
      }
      reader.attach(channel, null);
    }

    private static Socket accept(ServerSocket listener, DataTickets.Ticket ticket)
        throws IOException {
      Socket socket = listener.accept();
      socket.setTcpNoDelay(true);
      socket.getInputStream().readNBytes(Integer.BYTES + Handshake.STORE_BYTES);
      ByteBuffer proof = ByteBuffer.allocate(Handshake.STORE_BYTES);
      Handshake.putStore(proof, ticket.proof());
      socket.getOutputStream().write(proof.array());
      return socket;
    }

    /**
     * Returns rows to fetch.
     *
     * @param recordBytes size of a record in bytes; 0 for ragged rows
     */
    PeerRows rows(int count, int recordBytes) {
      rows.begin();
      rows.reserveRows(count);
      rows.beginRun(new RemoteSegment(Nonce.random(), peer, 3, count, recordBytes), 0, 0);
      for (int i = 0; i < count; i++) {
        rows.addRow();
      }
      rows.endRuns();
      return rows;
    }

    void send(byte[] bytes) throws IOException {
      socket.getOutputStream().write(bytes);
    }

    Void sendInTwo(byte[] bytes, int firstBytes) throws IOException, InterruptedException {
      send(Arrays.copyOf(bytes, firstBytes));
      if (firstBytes > 0) {
        Thread.sleep(PAUSE_MS); // lets the first part arrive alone, most of the time
      }
      send(Arrays.copyOfRange(bytes, firstBytes, bytes.length));
      return null;
    }

    /** Waits until a number of requests have arrived. */
    void awaitRequests(int requests) throws IOException {
      for (int i = 0; i < requests; i++) {
        ByteBuffer size = ByteBuffer.wrap(socket.getInputStream().readNBytes(Integer.BYTES));
        socket.getInputStream().readNBytes(size.getInt());
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
      rows.free();
    }
  }
}
