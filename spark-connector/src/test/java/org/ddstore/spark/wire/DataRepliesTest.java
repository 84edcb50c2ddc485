// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replies of an owner that the test plays. */
@Timeout(60)
class DataRepliesTest {
  private static final ProcessAddress PEER = new ProcessAddress("127.0.0.1", 1, 1);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** More than the lengths of the largest request, and less than a socket holds. */
  private static final int FOLLOWING_BYTES = 90_000;

  private final PeerRows rows = new PeerRows(PEER, new StagingBudget());
  private final GatherReader reader = new GatherReader(null, null, StoreToken.random(), TIMEOUT);

  @AfterEach
  void close() {
    reader.close();
    rows.free();
  }

  /** The text arrives together with the replies to the next requests, in place of lengths. */
  @Test
  void failureOfTheLargestRequestForLengthsIsReported() throws Exception {
    int count = 2 * GatherRequest.MAX_ROWS;
    rows.begin();
    rows.reserveRows(count);
    rows.beginRun(new RemoteSegment(Nonce.random(), PEER, 3, count, 0), 0, 0);
    for (int i = 0; i < count; i++) {
      rows.addRow();
    }
    rows.endRuns();
    ByteBuffer failure = Status.failedWithSize("no memory");
    byte[] reply = new byte[failure.remaining() + FOLLOWING_BYTES];
    failure.get(reply, 0, failure.remaining());
    try (ServerSocket owner = new ServerSocket(0, 1, InetAddress.getByName(PEER.host()))) {
      reader.fetch(List.of()); // opens the selector
      DataChannel channel = open(owner, reply);
      reader.attach(channel, null);
      assertThatThrownBy(() -> reader.fetch(List.of(rows)))
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("cannot read rows of rank 3")
          .hasMessageEndingWith("no memory");
      assertThat(rows.isSilent()).as("another copy is tried").isTrue();
    }
  }

  /** Opens a channel whose first bytes have all arrived. */
  private static DataChannel open(ServerSocket owner, byte[] reply) throws Exception {
    DataTickets.Ticket ticket = new DataTickets.Ticket(Nonce.random(), Nonce.random());
    FutureTask<Socket> serve =
        new FutureTask<>(
            () -> {
              Socket socket = owner.accept();
              socket.getInputStream().readNBytes(ServedChannel.GREETING_BYTES);
              ByteBuffer proof = ByteBuffer.allocate(Handshake.STORE_BYTES);
              Handshake.putStore(proof, ticket.proof());
              OutputStream out = socket.getOutputStream();
              out.write(proof.array());
              out.write(reply);
              return socket;
            });
    Thread thread = new Thread(serve, "owner");
    thread.setDaemon(true);
    thread.start();
    DataChannel channel = DataChannel.open(PEER, owner.getLocalPort(), ticket, TIMEOUT);
    serve.get();
    return channel;
  }
}
