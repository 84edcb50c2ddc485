// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.ddstore.spark.wire.calls.WireCalls;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.ProofKey;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.StoreToken;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A program that reaches the port of a network end but is not a peer is refused, without other
 * effects.
 */
@Tag("always")
abstract class StrangersContract extends AttackedWire {
  private static final int NONCE_BYTES = 32;

  StrangersContract(boolean guarded, Map<String, String> settings) {
    super(guarded, settings);
  }

  /** Not even by Spark, which has a stack trace for most of it. */
  @AfterEach
  void nothingElseIsLogged() {
    assertThat(otherLines()).isEmpty();
  }

  @Test
  void refusesRandomBytes() throws IOException {
    long seed = System.nanoTime();
    System.out.println("refusesRandomBytes: seeds from " + seed + " on");
    for (int i = 0; i < 100; i++) {
      Random random = new Random(seed + i);
      byte[] bytes = new byte[1 << random.nextInt(18)];
      random.nextBytes(bytes);
      try (Stranger stranger = new Stranger(address())) {
        stranger.send(bytes).end();
        stranger.awaitRefusal();
      }
    }
  }

  @Test
  void refusesFramesOfAnyLength() throws IOException {
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
      try (Stranger stranger = new Stranger(address())) {
        stranger.send(Stranger.frame(length, Stranger.RPC_REQUEST, new byte[1 << 20]));
        stranger.awaitRefusal();
      }
    }
  }

  /** Chunks, streams, uploads, answers, and what there is no kind of. */
  @Test
  void refusesFramesOfUnexpectedTypes() throws IOException {
    for (int type = Byte.MIN_VALUE; type <= Byte.MAX_VALUE; type++) {
      if (type != Stranger.RPC_REQUEST) {
        try (Stranger stranger = new Stranger(address())) {
          stranger.send(Stranger.frame((byte) type, new byte[64]));
          stranger.awaitRefusal();
        }
      }
    }
  }

  @Test
  void refusesTruncatedFrames() throws IOException {
    byte[] frame = Stranger.request(hello());
    for (int length = 0; length < frame.length; length += 1 + length / 8) {
      try (Stranger stranger = new Stranger(address())) {
        stranger.send(Arrays.copyOf(frame, length)).end();
        stranger.awaitRefusal();
      }
    }
  }

  @Test
  void refusesRandomRequests() throws Exception {
    long seed = System.nanoTime();
    System.out.println("refusesRandomRequests: seeds from " + seed + " on");
    for (int i = 0; i < 50; i++) {
      Random random = new Random(seed + i);
      byte[] request = new byte[random.nextInt(200)];
      random.nextBytes(request);
      if (request.length > 0 && random.nextBoolean()) {
        request[0] = (byte) random.nextInt(WireCalls.CALL + 1);
      }
      try (SparkClients.Client client = connect()) {
        byte status = client.statusOf(ByteBuffer.wrap(request));
        assertThat(status).as("seed %d", seed + i).isIn(Status.REFUSED, Status.OTHER_PROCESS);
        assertThat(status == Status.OTHER_PROCESS || client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void refusesTruncatedGreetings() throws Exception {
    byte[] hello = hello();
    int shortest = hello.length - HERE.length();
    for (int length = 1; length <= shortest; length += 5) {
      try (SparkClients.Client client = connect()) {
        assertThat(client.statusOf(ByteBuffer.wrap(hello, 0, length))).isEqualTo(Status.REFUSED);
        assertThat(client.isRefused()).isTrue();
      }
    }
  }

  @Test
  void refusesRowsWithoutAProof() throws Exception {
    try (SparkClients.Client client = connect()) {
      assertThat(client.statusOf(rows(token()))).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
    try (SparkClients.Client client = connect()) {
      assertThat(client.statusOf(ByteBuffer.wrap(hello()))).isEqualTo(Status.OK);
      assertThat(client.statusOf(rows(token()))).as("greeted only").isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void refusesCallsWithoutAProof() throws Exception {
    ByteBuffer question = ByteBuffer.allocate(1 + Handshake.STORE_BYTES + 16).put(WireCalls.CALL);
    Handshake.putStore(question, token().id());
    question.clear();
    try (SparkClients.Client client = connect()) {
      assertThat(client.statusOf(ByteBuffer.wrap(hello()))).isEqualTo(Status.OK);
      assertThat(client.statusOf(question)).as("greeted only").isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void refusesMessagesWithoutAProof() throws Exception {
    try (SparkClients.Client client = connect()) {
      client.say(message(token().id(), new byte[40]));
      assertThat(client.isRefused()).isTrue();
    }
  }

  @Test
  void refusesAProofByAnotherToken() throws Exception {
    byte[] proof = new byte[1 + Handshake.STORE_BYTES + 32];
    ByteBuffer wrong = ByteBuffer.wrap(proof).put(Handshake.PROOF);
    Handshake.putStore(wrong, token().id());
    wrong.put(other().sign(hello())).flip();
    try (SparkClients.Client client = connect()) {
      assertThat(client.statusOf(ByteBuffer.wrap(hello()))).isEqualTo(Status.OK);
      assertThat(client.statusOf(wrong)).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
    try (SparkClients.Client client = connect()) {
      assertThat(client.statusOf(wrong.rewind())).as("no greeting").isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  /** A key to read rows does not admit to the ranks, so neither to calls nor to messages. */
  @Test
  void refusesAProofByAReadKey() throws Exception {
    ReadClaims claims = new ReadClaims(token().id(), "train", ReadClaims.NEVER);
    byte[] hello = hello();
    try (SparkClients.Client client = connect()) {
      byte[] proof = proof(hello, client.ask(ByteBuffer.wrap(hello)), token());
      assertThat(client.statusOf(ByteBuffer.wrap(proof))).as("by the token").isEqualTo(Status.OK);
    }
    try (SparkClients.Client client = connect()) {
      ReadKey key = ReadKey.derive(token(), claims);
      byte[] proof = proof(hello, client.ask(ByteBuffer.wrap(hello)), key);
      assertThat(client.statusOf(ByteBuffer.wrap(proof))).isEqualTo(Status.REFUSED);
      assertThat(client.isRefused()).isTrue();
    }
  }

  /** Returns the proof of a client that does not check the server's, which follows a status. */
  private byte[] proof(byte[] hello, ByteBuffer answer, ProofKey key) {
    byte[] role = "ddstore client".getBytes(StandardCharsets.US_ASCII);
    int ownEnd = 2 + Handshake.STORE_BYTES + NONCE_BYTES;
    ByteBuffer statement = ByteBuffer.allocate(role.length + hello.length - 1 + NONCE_BYTES);
    statement.put(role).put(hello, 1, ownEnd - 1);
    statement.put(answer.slice(answer.position() + 1, NONCE_BYTES));
    statement.put(hello, ownEnd, hello.length - ownEnd);
    ByteBuffer proof = ByteBuffer.allocate(Handshake.PROOF_MESSAGE_BYTES).put(Handshake.PROOF);
    Handshake.putStore(proof, token().id());
    return proof.put(key.sign(statement.array())).array();
  }

  @Test
  void anUnknownStoreIsReportedAsGone() throws Exception {
    StoreToken unknown = StoreToken.random();
    try (SparkClients.Client client = connect()) {
      ByteBuffer hello = Handshake.begin(unknown.id(), address(), anybody()).hello();
      assertThat(client.statusOf(hello)).isEqualTo(Status.GONE);
    }
  }

  @Test
  void refusesAReplayedHandshake() throws Exception {
    byte[] recorded;
    try (Recorder recorder = new Recorder(address());
        WireSession genuine = Wire.joinAlone(token(), options(Map.of()))) {
      Connection connection = genuine.connections().to(recorder.address()).get();
      assertThat(connection.isAuthorised(token().id())).isTrue();
      recorded = recorder.said();
    }
    try (Stranger stranger = new Stranger(address())) {
      stranger.send(recorded).awaitRefusal();
    }
    try (Stranger stranger = new Stranger(address())) {
      stranger.send(recorded).send(Stranger.request(bytes(rows(token())))).awaitRefusal();
    }
  }

  @Test
  void survivesManyConnectionResets() throws Exception {
    for (int i = 0; i < 200; i++) {
      try (Stranger stranger = new Stranger(address())) {
        stranger.send(Stranger.request(hello())).reset();
      }
    }
  }

  @Test
  void reportsRefusalsOfASecondHost() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (Stranger stranger = new Stranger(address(), "127.0.0.2")) {
        stranger.send(Stranger.frame((byte) 0, new byte[64])).awaitRefusal();
      }
    }
    assertThat(refusals()).filteredOn(line -> line.contains("127.0.0.2")).hasSize(1);
  }
}
