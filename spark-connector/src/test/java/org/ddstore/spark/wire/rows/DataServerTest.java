// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.Status;
import org.junit.jupiter.api.Test;

/** The data port: its peers with tickets, its replies, and its end. */
class DataServerTest extends DataPort {
  @Test
  void refusesPeersWithoutATicket() throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < 50; i++) {
      byte[] bytes = new byte[GREETING_BYTES + random.nextInt(1000)];
      random.nextBytes(bytes);
      Socket stranger = connect();
      stranger.getOutputStream().write(bytes);
      assertRefused(stranger);
    }
    Socket guess = connect();
    guess.getOutputStream().write(greeting(Admission.TICKET, Nonce.random()));
    assertRefused(guess);
    Socket other = connect();
    other.getOutputStream().write(greeting(Admission.TICKET + 1, server().issue(store()).key()));
    assertRefused(other);
    assertThat(log().of(RefusalLog.class))
        .singleElement()
        .asString()
        .contains("no ticket for a data channel");
  }

  @Test
  void acceptsATicketOnce() throws IOException {
    DataTickets.Ticket ticket = server().issue(store());
    Socket first = connect();
    first.getOutputStream().write(greeting(Admission.TICKET, ticket.key()));
    assertThat(first.getInputStream().readNBytes(Handshake.STORE_BYTES)).hasSize(16);
    Socket second = connect();
    second.getOutputStream().write(greeting(Admission.TICKET, ticket.key()));
    assertRefused(second);
  }

  @Test
  void closesSilentChannelsAndForgetsOldTickets() throws Exception {
    restart(Duration.ofMillis(200));
    DataTickets.Ticket ticket = server().issue(store());
    Socket silent = connect();
    assertRefused(silent);
    Socket half = connect();
    half.getOutputStream().write(greeting(Admission.TICKET, ticket.key()), 0, 10);
    assertRefused(half);
    Socket late = connect();
    late.getOutputStream().write(greeting(Admission.TICKET, ticket.key()));
    assertRefused(late);
    Socket admitted = admit(connect());
    Thread.sleep(500); // longer than the life of a ticket
    admitted.getOutputStream().write(frame(false, 0, 10, small(), 0, 1));
    assertThat(reply(admitted.getInputStream(), 10, small()))
        .isEqualTo(Arrays.copyOf(record(0, SMALL_BYTES), 10));
  }

  @Test
  void refusesIllegalRequests() throws IOException {
    List<byte[]> illegal =
        List.of(
            ByteBuffer.allocate(4).putInt(-1).array(),
            ByteBuffer.allocate(4).putInt(0).array(),
            ByteBuffer.allocate(4).putInt(ServedChannel.MAX_FRAME_BYTES).array(),
            ByteBuffer.allocate(14).putInt(10).array(),
            frame(false, 0, 100, small(), 4999, 2),
            frame(false, 0, SMALL_BYTES + 1, small(), 0, 1),
            frame(false, SMALL_BYTES + 1, 0, small(), 0, 1),
            frame(false, 0, -1, small(), 0, 1),
            frame(false, 0, 100, small()));
    for (byte[] request : illegal) {
      Socket peer = admit(connect());
      peer.getOutputStream().write(request);
      assertRefused(peer);
    }
  }

  @Test
  void sendsRandomRows() throws IOException {
    Socket peer = admit(connect());
    long seed = System.nanoTime();
    for (int i = 0; i < 200; i++) {
      Random random = new Random(seed + i);
      Segment segment = List.of(small(), large(), ragged()).get(i % 3);
      long[] runs = new long[2 * (1 + random.nextInt(i % 3 == 1 ? 2 : 300))];
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (int r = 0; r < runs.length; r += 2) {
        runs[r] = random.nextLong(segment.rows() - 2);
        runs[r + 1] = 1L + random.nextInt(2);
        for (long row = runs[r]; row < runs[r] + runs[r + 1]; row++) {
          all.writeBytes(
              segment == ragged() ? raggedRecord(row) : record(row, segment.recordBytes(row)));
        }
      }
      int skip = random.nextInt(Integer.BYTES); // less than the smallest record, an empty text
      int most = Math.min(all.size() - skip, GatherRequest.CHANNEL_PIECE_BYTES);
      int bytes = 1 + random.nextInt(most);
      peer.getOutputStream().write(frame(false, skip, bytes, segment, runs));
      assertThat(reply(peer.getInputStream(), bytes, segment))
          .as("seed %d", seed + i)
          .isEqualTo(Arrays.copyOfRange(all.toByteArray(), skip, skip + bytes));
    }
  }

  /**
   * If the library is loaded, C answers these requests, except for rows of segments that it does
   * not know.
   */
  @Test
  void sendsWholeSmallRows() throws IOException {
    Socket peer = admit(connect());
    long seed = System.nanoTime();
    int requests = 200;
    for (int i = 0; i < requests; i++) {
      Random random = new Random(seed + i);
      long[] runs = new long[2 * (1 + random.nextInt(900))]; // some take several windows
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (int r = 0; r < runs.length; r += 2) {
        runs[r] = random.nextLong(small().rows() - 2);
        runs[r + 1] = i % 2 == 0 ? 1 : 1L + random.nextInt(3);
        for (long row = runs[r]; row < runs[r] + runs[r + 1]; row++) {
          all.writeBytes(record(row, SMALL_BYTES));
        }
      }
      peer.getOutputStream().write(frame(false, 0, all.size(), small(), runs));
      assertThat(reply(peer.getInputStream(), all.size(), small()))
          .as("seed %d", seed + i)
          .isEqualTo(all.toByteArray());
      assertThat(rows().served()).isEqualTo(i + 1);
    }
    if (inC() && NativeLibrary.isLoaded()) {
      assertThat(rows().servedInC()).as("requests answered by C").isEqualTo(rows().served());
    } else {
      assertThat(rows().servedInC()).isZero();
    }
  }

  @Test
  void limitsTheBytesOfAReply() throws IOException {
    int most = GatherRequest.CHANNEL_PIECE_BYTES;
    Socket peer = admit(connect());
    peer.getOutputStream().write(frame(false, 0, most, small(), 0, 5000));
    byte[] records = reply(peer.getInputStream(), most, small());
    for (int row = 0; row < most / SMALL_BYTES; row++) {
      assertThat(Arrays.copyOfRange(records, row * SMALL_BYTES, (row + 1) * SMALL_BYTES))
          .isEqualTo(record(row, SMALL_BYTES));
    }
    for (boolean lengths : new boolean[] {false, true}) {
      Socket greedy = admit(connect());
      greedy.getOutputStream().write(frame(lengths, 0, most + 1, small(), 0, 5000));
      assertRefused(greedy);
    }
  }

  @Test
  void sendsLengthsAndRows() throws IOException {
    Socket peer = admit(connect());
    peer.getOutputStream().write(frame(true, 0, 1 << 18, ragged(), 3, 4));
    DataInputStream in = new DataInputStream(peer.getInputStream());
    assertThat(in.readByte()).isEqualTo(Status.OK);
    for (int row = 3; row < 7; row++) {
      assertThat(in.readInt()).isEqualTo(raggedRecord(row).length);
    }
    skipPadding(in, 1 + 4 * Integer.BYTES);
    for (int row = 3; row < 7; row++) {
      assertThat(in.readNBytes(raggedRecord(row).length)).isEqualTo(raggedRecord(row));
    }
    assertThat(in.readByte()).isEqualTo(Status.OK);
    assertThat(in.readLong()).isEqualTo(ragged().version());
  }

  /** The end of such a reply does not fit into the memory for packed records beside them. */
  @Test
  void sendsVersionsOfAsManySegmentsAsThereMayBeRows() throws IOException {
    int segments = GatherRequest.MAX_ROWS;
    int bytes = 40 * SMALL_BYTES;
    assertThat(64 + bytes + 1 + segments * Long.BYTES).isGreaterThan(DataLoop.PACKED_BYTES);
    ByteBuffer frame =
        ByteBuffer.allocate(
            Integer.BYTES
                + GatherRequest.BODY_HEADER_BYTES
                + segments * (GatherRequest.SEGMENT_BYTES + Long.BYTES));
    frame.putInt(frame.capacity() - Integer.BYTES);
    frame.put((byte) 0).putInt(0).putInt(bytes).putInt(segments);
    for (int i = 0; i < segments; i++) {
      Handshake.putStore(frame, small().nonce());
      frame.putInt(1).putInt(1).putLong(7);
    }
    Socket peer = admit(connect());
    peer.getOutputStream().write(frame.array());
    DataInputStream in = new DataInputStream(peer.getInputStream());
    assertThat(in.readByte()).isEqualTo(Status.OK);
    skipPadding(in, 1);
    for (int row = 0; row < 40; row++) {
      assertThat(in.readNBytes(SMALL_BYTES)).isEqualTo(record(7, SMALL_BYTES));
    }
    assertThat(in.readByte()).isEqualTo(Status.OK);
    for (int i = 0; i < segments; i++) {
      assertThat(in.readLong()).isEqualTo(small().version());
    }
  }

  /** As a task that Spark has killed closes it. */
  @Test
  void anInterruptedThreadClosesItOnlyAfterItsThreads() throws IOException {
    Socket peer = admit(connect());
    peer.getOutputStream().write(frame(false, 0, SMALL_BYTES, small(), 0, 1));
    Thread.currentThread().interrupt();
    server().close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("ddstore-data"));
  }

  /** Requests in one write, and byte by byte. */
  @Test
  void takesRequestsInAnyParts() throws IOException {
    Socket peer = admit(connect());
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int row = 0; row < 100; row++) {
      many.writeBytes(frame(false, 0, SMALL_BYTES, small(), row, 1));
    }
    peer.getOutputStream().write(many.toByteArray());
    for (int row = 0; row < 100; row++) {
      assertThat(reply(peer.getInputStream(), SMALL_BYTES, small()))
          .isEqualTo(record(row, SMALL_BYTES));
    }
    for (byte one : frame(false, 5, 50, small(), 77, 1)) {
      peer.getOutputStream().write(one);
    }
    assertThat(reply(peer.getInputStream(), 50, small()))
        .isEqualTo(Arrays.copyOfRange(record(77, SMALL_BYTES), 5, 55));
  }

  /** A receiver that takes nothing holds up no other, and gets all bytes in the end. */
  @Test
  void waitsForASlowReceiver() throws IOException {
    Socket narrow = new Socket();
    narrow.setReceiveBufferSize(4096);
    Socket slow = admit(connect(narrow));
    int requests = 64;
    for (int i = 0; i < requests; i++) {
      Segment segment = i % 2 == 0 ? large() : small();
      int count = segment == large() ? 2 : 600;
      slow.getOutputStream()
          .write(frame(false, 0, count * segment.recordBytes(0), segment, i % 40, count));
    }
    Socket quick = admit(connect());
    quick.getOutputStream().write(frame(false, 0, SMALL_BYTES, small(), 9, 1));
    assertThat(reply(quick.getInputStream(), SMALL_BYTES, small()))
        .isEqualTo(record(9, SMALL_BYTES));

    for (int i = 0; i < requests; i++) {
      Segment segment = i % 2 == 0 ? large() : small();
      int count = segment == large() ? 2 : 600;
      ByteArrayOutputStream expected = new ByteArrayOutputStream();
      for (int row = i % 40; row < i % 40 + count; row++) {
        expected.writeBytes(record(row, segment.recordBytes(0)));
      }
      assertThat(reply(slow.getInputStream(), expected.size(), segment))
          .isEqualTo(expected.toByteArray());
    }
  }

  @Test
  void saysThatRowsHaveChanged() throws IOException {
    Socket peer = admit(connect());
    small().beginChange();
    peer.getOutputStream().write(frame(false, 0, SMALL_BYTES, small(), 0, 1));
    DataInputStream in = new DataInputStream(peer.getInputStream());
    assertThat(in.readByte()).isEqualTo(Status.OK);
    skipPadding(in, 1);
    assertThat(in.readNBytes(SMALL_BYTES)).hasSize(SMALL_BYTES);
    assertThat(in.readByte()).isEqualTo(Status.CHANGING);
    assertThat(in.readLong()).isOdd();
    skipPadding(in, 1 + Long.BYTES);
    small().endChange();
    peer.getOutputStream().write(frame(false, 0, SMALL_BYTES, small(), 0, 1));
    assertThat(reply(in, SMALL_BYTES, small())).isEqualTo(record(0, SMALL_BYTES));
  }

  /** Rows change while a receiver has taken a part of them. */
  @Test
  void saysThatRowsHaveChangedDuringAReply() throws Exception {
    saysThatRowsHaveChangedDuringAReply(large(), 2);
    saysThatRowsHaveChangedDuringAReply(small(), 600);
  }

  private void saysThatRowsHaveChangedDuringAReply(Segment segment, int count) throws Exception {
    Socket narrow = new Socket();
    narrow.setReceiveBufferSize(4096);
    Socket slow = admit(connect(narrow));
    int rowBytes = segment.recordBytes(0);
    int requests = 64; // more than the buffers of the sockets hold
    for (int i = 0; i < requests; i++) {
      slow.getOutputStream().write(frame(false, 0, count * rowBytes, segment, i % 40, count));
    }
    awaitBlockedReply();
    segment.beginChange();
    segment.endChange();
    DataInputStream in = new DataInputStream(slow.getInputStream());
    int changing = 0;
    for (int i = 0; i < requests; i++) {
      assertThat(in.readByte()).isEqualTo(Status.OK);
      skipPadding(in, 1);
      byte[] got = in.readNBytes(count * rowBytes);
      assertThat(Arrays.copyOf(got, rowBytes)).isEqualTo(record(i % 40, rowBytes));
      changing += in.readByte() == Status.CHANGING ? 1 : 0;
      in.readLong();
      skipPadding(in, 1 + Long.BYTES);
    }
    assertThat(changing).isEqualTo(1);
  }

  /** Waits until the buffers of the sockets are full. */
  private void awaitBlockedReply() throws InterruptedException {
    long before;
    do {
      before = rows().served();
      Thread.sleep(300);
    } while (before == 0 || rows().served() > before);
  }

  @Test
  void endsWithItsStoreAndItsSegments() throws IOException {
    Socket peer = admit(connect());
    rows().withdraw(small());
    peer.getOutputStream().write(frame(false, 0, SMALL_BYTES, small(), 0, 1));
    assertThat(peer.getInputStream().read()).isEqualTo(Status.GONE);
    peer.getOutputStream().write(frame(false, 0, 10, large(), 0, 1));
    assertThat(reply(peer.getInputStream(), 10, large()))
        .isEqualTo(Arrays.copyOf(record(0, LARGE_BYTES), 10));
    server().closeChannels(Nonce.random());
    peer.getOutputStream().write(frame(false, 0, 10, large(), 0, 1));
    assertThat(reply(peer.getInputStream(), 10, large())).hasSize(10);
    server().closeChannels(store());
    assertRefused(peer);
  }
}
