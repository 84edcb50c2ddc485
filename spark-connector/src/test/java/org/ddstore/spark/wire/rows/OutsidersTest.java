// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.Test;

/** Readers from outside of Spark at the data port, and strangers who pretend to be such. */
class OutsidersTest extends DataPort {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private ReadClaims claims(String label, long expiresMs) {
    return new ReadClaims(store(), label, expiresMs);
  }

  private ReadClaims anyClaims() {
    return claims("train", ReadClaims.NEVER);
  }

  private static byte[] greeting(Handshake handshake) {
    byte[] hello = handshake.hello().array();
    return ByteBuffer.allocate(2 * Integer.BYTES + hello.length)
        .putInt(Admission.READ_KEY)
        .putInt(hello.length)
        .put(hello)
        .array();
  }

  private Handshake begin(ReadClaims claims) {
    return Handshake.begin(store(), PROCESS, claims.toBytes());
  }

  /** Sends a greeting, and returns the proof after the answer to it. */
  private static byte[] prove(Socket socket, Handshake handshake, ReadKey key) throws IOException {
    socket.getOutputStream().write(greeting(handshake));
    byte[] answer = socket.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES);
    assertThat(answer).hasSize(1 + Handshake.ANSWER_BYTES);
    assertThat(answer[0]).isEqualTo(Status.OK);
    return handshake.prove(ByteBuffer.wrap(answer).position(1), key).array();
  }

  /** Returns the last answer of a handshake; -1 if the channel is closed instead. */
  private int enter(Socket socket, ReadClaims claims) throws IOException {
    byte[] proof = prove(socket, begin(claims), ReadKey.derive(token(), claims));
    socket.getOutputStream().write(proof);
    return socket.getInputStream().read();
  }

  private Socket entered(ReadClaims claims) throws IOException {
    Socket socket = connect();
    assertThat(enter(socket, claims)).isEqualTo(Status.OK);
    return socket;
  }

  private void reads(Socket socket) throws IOException {
    socket.getOutputStream().write(frame(false, 0, SMALL_BYTES, small(), 9, 1));
    assertThat(reply(socket.getInputStream(), SMALL_BYTES, small()))
        .isEqualTo(record(9, SMALL_BYTES));
  }

  @Test
  void readsWithAKey() throws IOException {
    grants().open(Set.of());
    Socket reader = entered(anyClaims());
    for (int i = 0; i < 5; i++) {
      reads(reader);
    }
    reader.getOutputStream().write(frame(false, 0, LARGE_BYTES, large(), 3, 1));
    assertThat(reply(reader.getInputStream(), LARGE_BYTES, large()))
        .isEqualTo(record(3, LARGE_BYTES));
    String label = anyClaims().label();
    assertThat(grants().statistics())
        .containsExactly(new OutsideStatistics(label, 1, 6, 6, 5 * SMALL_BYTES + LARGE_BYTES));
    reader.close();
    await("the channel is closed")
        .atMost(PATIENCE)
        .until(() -> grants().statistics().get(0).channels() == 0);
  }

  @Test
  void aReaderInJavaEntersAndLearnsWhyNot() throws Exception {
    grants().open(Set.of("revoked"));
    ProcessAddress port = new ProcessAddress(HERE, server().port(), PROCESS);
    long past = System.currentTimeMillis();
    for (ReadClaims claims : List.of(anyClaims(), claims("old", past), claims("revoked", past))) {
      ReadKey key = ReadKey.derive(token(), claims);
      String label = claims.label();
      if (label.equals("train")) {
        DataChannel.open(port, claims, key, PATIENCE).close();
        continue;
      }
      assertThatThrownBy(() -> DataChannel.open(port, claims, key, PATIENCE))
          .isInstanceOf(SecurityException.class)
          .hasMessageContaining("grant \"%s\"", label)
          .hasMessageContaining(label.equals("old") ? " ended at 20" : " was revoked");
    }
    assertThatThrownBy(() -> DataChannel.open(port, anyClaims(), ReadKey.random(), PATIENCE))
        .isInstanceOf(SecurityException.class)
        .hasMessage("the server does not have the key of store " + store());
    ProcessAddress other = new ProcessAddress(HERE, server().port(), PROCESS + 1);
    ReadKey key = ReadKey.derive(token(), anyClaims());
    assertThatThrownBy(() -> DataChannel.open(other, anyClaims(), key, PATIENCE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another process listens at");
  }

  /** A store that was never opened to outsiders looks like one that does not exist. */
  @Test
  void nobodyEntersBeforeTheStoreIsOpened() throws IOException {
    for (boolean known : new boolean[] {true, false}) {
      ReadClaims claims = known ? anyClaims() : new ReadClaims(Nonce.random(), "train", 1);
      Handshake handshake = Handshake.begin(claims.store(), PROCESS, claims.toBytes());
      Socket socket = connect();
      socket.getOutputStream().write(greeting(handshake));
      ByteBuffer answer =
          ByteBuffer.wrap(socket.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES));
      assertThat(answer.get()).isEqualTo(Status.OK);
      ReadKey key = ReadKey.derive(token(), claims);
      assertThatThrownBy(() -> handshake.prove(answer, key)).isInstanceOf(SecurityException.class);
      socket.getOutputStream().write(new byte[Handshake.PROOF_MESSAGE_BYTES]);
      assertRefused(socket);
    }
  }

  @Test
  void tellsTheReasonOnlyAfterAValidProof() throws Exception {
    grants().open(Set.of("revoked"));
    ReadClaims old = claims("old", System.currentTimeMillis() - 1);
    ReadClaims revoked = claims("revoked", ReadClaims.NEVER);
    assertThat(enter(connect(), old)).isEqualTo(Status.EXPIRED);
    assertThat(enter(connect(), revoked)).isEqualTo(Status.REVOKED);
    grants().close();
    assertThat(enter(connect(), anyClaims())).isEqualTo(Status.GONE);
    for (ReadClaims claims : List.of(old, revoked, anyClaims())) {
      Socket socket = connect();
      byte[] proof = prove(socket, begin(claims), ReadKey.derive(token(), claims));
      proof[proof.length - 1] ^= 1;
      socket.getOutputStream().write(proof);
      assertRefused(socket);
    }
  }

  /** Claims that were changed need another key; so do a later end, another label or store. */
  @Test
  void refusesOtherClaimsThanThoseOfTheKey() throws IOException {
    grants().open(Set.of("revoked"));
    ReadClaims given = claims("revoked", System.currentTimeMillis() - 1);
    ReadKey key = ReadKey.derive(token(), given);
    for (ReadClaims forged : List.of(claims("revoked", ReadClaims.NEVER), claims("other", 1))) {
      Handshake handshake = begin(forged);
      Socket socket = connect();
      socket.getOutputStream().write(greeting(handshake));
      ByteBuffer answer =
          ByteBuffer.wrap(socket.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES));
      assertThatThrownBy(() -> handshake.prove(answer.position(1), key))
          .isInstanceOf(SecurityException.class);
      socket.getOutputStream().write(new byte[Handshake.PROOF_MESSAGE_BYTES]);
      assertRefused(socket);
    }
    ReadClaims ofOther = new ReadClaims(Nonce.random(), "train", ReadClaims.NEVER);
    Socket socket = connect();
    socket.getOutputStream().write(greeting(Handshake.begin(store(), PROCESS, ofOther.toBytes())));
    assertRefused(socket);
  }

  @Test
  void refusesTheKeysOfOtherStoresAndTokens() throws IOException {
    grants().open(Set.of());
    Socket socket = connect();
    Handshake handshake = begin(anyClaims());
    socket.getOutputStream().write(greeting(handshake));
    ByteBuffer answer =
        ByteBuffer.wrap(socket.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES));
    // Neither the token itself nor the key that another token gives.
    for (var key : List.of(token(), ReadKey.derive(StoreToken.random(), anyClaims()))) {
      assertThatThrownBy(() -> handshake.prove(answer.position(1), key))
          .isInstanceOf(SecurityException.class);
    }
  }

  @Test
  void refusesReplays() throws IOException {
    grants().open(Set.of());
    Handshake handshake = begin(anyClaims());
    Socket first = connect();
    byte[] proof = prove(first, handshake, ReadKey.derive(token(), anyClaims()));
    first.getOutputStream().write(proof);
    assertThat(first.getInputStream().read()).isEqualTo(Status.OK);
    // The same bytes on another channel, and twice on the same one.
    Socket second = connect();
    second.getOutputStream().write(greeting(handshake));
    second.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES);
    second.getOutputStream().write(proof);
    assertRefused(second);
    first.getOutputStream().write(proof);
    assertRefused(first);
    // The server's own proof, sent back to it.
    Socket third = connect();
    third.getOutputStream().write(greeting(handshake));
    byte[] answer = third.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES);
    ByteBuffer reflected = ByteBuffer.allocate(Handshake.PROOF_MESSAGE_BYTES).put(Handshake.PROOF);
    Handshake.putStore(reflected, store());
    reflected.put(Arrays.copyOfRange(answer, answer.length - 32, answer.length));
    third.getOutputStream().write(reflected.array());
    assertRefused(third);
  }

  @Test
  void refusesDamagedGreetingsAndProofs() throws IOException {
    grants().open(Set.of());
    Random random = new Random(5);
    byte[] greeting = greeting(begin(anyClaims()));
    byte[] claims = anyClaims().toBytes();
    for (int at = 0; at < greeting.length; at++) {
      byte[] damaged = greeting.clone();
      damaged[at] ^= (byte) (1 + random.nextInt(255));
      Socket socket = connect();
      try {
        socket.getOutputStream().write(damaged);
        socket.getOutputStream().write(new byte[Admission.MAX_HELLO_BYTES]);
      } catch (SocketException e) {
        // The first bytes were enough to be refused.
      }
      assertThat(answered(socket)).as("byte %d", at).isIn(0, 1, 1 + Handshake.ANSWER_BYTES);
    }
    assertThat(claims).hasSize(25 + 5);
    for (int size : new int[] {Integer.MIN_VALUE, -1, 0, 257, 1 << 20, Integer.MAX_VALUE}) {
      Socket socket = connect();
      socket
          .getOutputStream()
          .write(ByteBuffer.allocate(8).putInt(Admission.READ_KEY).putInt(size).array());
      assertRefused(socket);
    }
  }

  /** Each beginning of a handshake, then silence: the channel is closed at the deadline. */
  @Test
  void closesUnfinishedHandshakes() throws IOException {
    grants().open(Set.of());
    restart(Duration.ofMillis(300));
    byte[] greeting = greeting(begin(anyClaims()));
    List<Socket> silent = new ArrayList<>();
    for (int length = 0; length <= greeting.length; length += 7) {
      Socket socket = connect();
      socket.getOutputStream().write(greeting, 0, length);
      silent.add(socket);
    }
    Socket half = connect();
    byte[] proof = prove(half, begin(anyClaims()), ReadKey.derive(token(), anyClaims()));
    half.getOutputStream().write(proof, 0, 20);
    silent.add(half);
    for (Socket socket : silent) {
      assertRefused(socket);
    }
    reads(entered(anyClaims()));
  }

  @Test
  void closesOpenChannelsWhenTheirGrantsEnd() throws Exception {
    grants().open(Set.of());
    long soonMs = System.currentTimeMillis() + 1500;
    Socket ending = entered(claims("short", soonMs));
    Socket revoked = entered(claims("revoked", ReadClaims.NEVER));
    Socket other = entered(anyClaims());
    Socket ticket = admit(connect());
    for (Socket socket : List.of(ending, revoked, other, ticket)) {
      reads(socket);
    }
    grants().open(Set.of("revoked"));
    server().endGrants();
    assertRefused(revoked);
    reads(ending);
    assertRefused(ending);
    assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(soonMs);
    reads(other);
    reads(ticket);
    // Without the call, within a second; and a channel that a reply keeps busy.
    Socket busy = entered(claims("busy", ReadClaims.NEVER));
    for (int i = 0; i < 200; i++) {
      busy.getOutputStream().write(frame(false, 0, 10 * LARGE_BYTES, large(), 3, 10));
    }
    grants().open(Set.of("busy"));
    grants().open(Set.of()); // an earlier request that comes late
    await("closed").atMost(PATIENCE).until(() -> isReset(busy));
    reads(other);
  }

  /** Returns the number of bytes that arrive before the channel is closed. */
  private static int answered(Socket socket) {
    int bytes = 0;
    try {
      while (socket.getInputStream().read() >= 0) {
        bytes++;
      }
    } catch (IOException e) {
      // Reset, which is an end, too.
    }
    return bytes;
  }

  private static boolean isReset(Socket socket) {
    try {
      socket.getOutputStream().write(0);
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** Strangers of one host fill the list of unfinished connections: others still enter. */
  @Test
  void aFloodFromOneHostKeepsNobodyOut() throws Exception {
    grants().open(Set.of());
    Socket reader = entered(anyClaims());
    Socket newcomer = new Socket();
    newcomer.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 0));
    connect(newcomer);
    byte[] greeting = greeting(begin(anyClaims()));
    newcomer.getOutputStream().write(greeting, 0, 10);
    for (int i = 0; i < 1500; i++) {
      Socket stranger = connect();
      if (i % 2 == 0) {
        stranger.getOutputStream().write(greeting, 0, i % greeting.length);
      }
      if (i % 100 == 0) {
        reads(reader);
      }
    }
    newcomer.getOutputStream().write(greeting, 10, greeting.length - 10);
    assertThat(newcomer.getInputStream().readNBytes(1 + Handshake.ANSWER_BYTES))
        .hasSize(1 + Handshake.ANSWER_BYTES);
    reads(reader);
    reads(entered(anyClaims()));
  }

  @Test
  void logsNoSecret() throws IOException {
    grants().open(Set.of());
    ReadKey key = ReadKey.derive(token(), anyClaims());
    Socket socket = connect();
    byte[] proof = prove(socket, begin(anyClaims()), key);
    proof[20] ^= 1;
    socket.getOutputStream().write(proof);
    assertRefused(socket);
    assertThat(log().of(RefusalLog.class))
        .singleElement()
        .asString()
        .contains("a wrong proof of a read key");
    assertThat(key).hasToString("ReadKey");
  }
}
