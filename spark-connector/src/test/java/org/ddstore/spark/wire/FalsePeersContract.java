// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.spark.wire.rows.GatherRequest;
import org.ddstore.spark.wire.rows.GatherRequests;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program that has proved a token, or to which a reader connects in place of a peer, is refused
 * when it does what no peer does, without other effects.
 */
@Tag("always")
abstract class FalsePeersContract extends AttackedWire {
  private static final String CREATION_TIMEOUT = "spark.ddstore.io.connectionCreationTimeout";
  private static final String AUTHENTICATION_TIMEOUT = "spark.network.auth.rpcTimeout";

  FalsePeersContract(boolean guarded, Map<String, String> settings) {
    super(guarded, settings);
  }

  @Test
  void refusesRowsOfAnotherStore() throws Exception {
    try (SparkClients.Client client = connect()) {
      client.prove(other(), anybody());
      assertThat(client.statusOf(rows(other()))).as("it has no such rows").isEqualTo(Status.GONE);
      assertThat(client.statusOf(rows(token()))).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
    try (SparkClients.Client client = connect()) {
      client.prove(other(), anybody());
      client.say(message(token().id(), new byte[40]));
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void refusesARepeatedProof() throws Exception {
    try (SparkClients.Client client = connect()) {
      ByteBuffer proof = client.prove(token(), anybody());
      assertThat(client.statusOf(rows(token()))).isEqualTo(Status.OK);
      assertThat(client.statusOf(proof)).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void refusesInvalidFramesOfAPeer() throws Exception {
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
      try (SparkClients.Client client = connect()) {
        client.prove(token(), anybody());
        client.sendBytes(frame);
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void refusesInvalidMessagesOfAPeer() throws Exception {
    long seed = System.nanoTime();
    System.out.println("refusesInvalidMessagesOfAPeer: seeds from " + seed + " on");
    for (int i = 0; i < 20; i++) {
      byte[] text = new byte[new Random(seed + i).nextInt(300)];
      new Random(seed + i).nextBytes(text);
      if (text.length > 0) {
        text[0] = (byte) (4 + i); // no kind of message
      }
      try (SparkClients.Client client = connect()) {
        client.prove(token(), anybody());
        client.say(message(token().id(), text));
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void refusesInvalidRequestsOfAPeer() throws Exception {
    List<ByteBuffer> requests =
        List.of(
            GatherRequests.of(token().id(), false, -1, 100, segment().nonce(), 0, 1),
            GatherRequests.of(token().id(), false, 101, 100, segment().nonce(), 0, 1),
            GatherRequests.of(token().id(), false, 0, 1 << 30, segment().nonce(), 0, 1),
            GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), 1000, 1),
            GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), Long.MAX_VALUE, 1),
            GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), 0, 0),
            GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), 0, -1),
            GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), 0, Integer.MAX_VALUE),
            GatherRequests.of(token().id(), false, 0, 100, segment().nonce()),
            withRows(0, GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), 0, 1)),
            withRows(3, GatherRequests.of(token().id(), false, 0, 100, segment().nonce(), 0, 2)));
    for (ByteBuffer request : requests) {
      try (SparkClients.Client client = connect()) {
        client.prove(token(), anybody());
        assertThat(client.statusOf(request)).isEqualTo(Status.REFUSED);
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  /** Returns a request of one segment that states another number of rows than its runs have. */
  private static ByteBuffer withRows(int rows, ByteBuffer request) {
    int rowsAt = GatherRequest.HEADER_BYTES + GatherRequest.SEGMENT_BYTES - Integer.BYTES;
    return request.putInt(rowsAt, rows);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void rejectsAServerWithInvalidAnswers(boolean unasked) throws Exception {
    byte[] text = ByteBuffer.allocate(12).putLong(7).putInt(Integer.MAX_VALUE).array();
    byte[] status = ByteBuffer.allocate(13).putLong(7).putInt(1).array();
    List<byte[]> answers =
        List.of(
            Stranger.frame(Stranger.RPC_FAILURE, text),
            Stranger.frame(Stranger.RPC_RESPONSE, status),
            Stranger.request(hello()),
            Stranger.frame(Integer.MAX_VALUE, Stranger.RPC_RESPONSE, new byte[1 << 16]));
    Map<String, String> impatient = Map.of(CREATION_TIMEOUT, "1s", AUTHENTICATION_TIMEOUT, "1s");
    WireOptions options = options(impatient);
    try (WireSession session = Wire.joinAlone(token(), options)) {
      for (byte[] answer : answers) {
        String host = unasked ? "127.0.0.3" : "127.0.0.4"; // tells its lines in the log
        try (Impostor impostor = new Impostor(host, answer, unasked)) {
          assertThatThrownBy(() -> session.connections().to(impostor.address()).get())
              .isInstanceOf(ExecutionException.class);
          impostor.awaitEnd();
        }
      }
    }
  }

  @Test
  void rejectsAServerWithAnotherToken() throws Exception {
    Handshake handshake = Handshake.begin(token().id(), address(), anybody());
    ByteBuffer wrong =
        ByteBuffer.allocate(1 + 32 + 32)
            .put(Status.OK)
            .put(new byte[32])
            .put(other().sign(hello()));
    assertThatThrownBy(() -> handshake.prove(wrong.flip().position(1), token()))
        .isInstanceOf(SecurityException.class)
        .hasMessageContaining("does not have the key");
  }
}
