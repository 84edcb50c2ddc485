// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lane, its messages, and the mirror that they fill; no network and no thread. */
class LaneMessagesTest {
  private static final int PIECE_BYTES = 1000;

  private final RecordingMessenger atOwner = new RecordingMessenger("owner");
  private final RecordingMessenger atReader = new RecordingMessenger("reader");
  private final LaneExchange ownersExchange = LaneExchange.overMessages(atOwner);
  private final LaneExchange readersExchange = LaneExchange.overMessages(atReader);
  private GroupEndpoint endpoint;
  private LaneAddress address;
  private OwnLane own;
  private Mirror mirror;

  @BeforeEach
  void mirror() throws IOException {
    endpoint = GroupEndpoint.create(ownersExchange, 0, 2);
    address = LaneAddress.parse(endpoint.address());
    own = endpoint.lane();
    mirror = (Mirror) readersExchange.hold(address).lane();
  }

  @AfterEach
  void close() throws IOException {
    endpoint.close();
    readersExchange.close();
    ownersExchange.close();
  }

  private void deliver() {
    deliver(atReader.takeSent(), atOwner);
    deliver(atOwner.takeSent(), atReader);
  }

  private static void deliver(List<RecordingMessenger.Sent> sent, RecordingMessenger to) {
    for (RecordingMessenger.Sent message : sent) {
      assertThat(message.to()).isEqualTo(to.local());
      to.receiver().received(message.message().duplicate());
    }
  }

  private void ask() {
    await()
        .until(
            () -> {
              mirror.ask();
              return atReader.hasSent();
            });
  }

  private void post(int round) {
    own.enter(round + 1, "call of round " + round);
    for (int i = 0; i < PIECE_BYTES; i++) {
      own.memory().piece(round).put(i, (byte) (round + i));
    }
    own.post(round, round + 1, 77L * round, PIECE_BYTES, PieceParts.common(PIECE_BYTES));
    own.finish(round + 1);
  }

  private void assertMirrored(int round) {
    assertThat(mirror.hasPosted(round)).as("round %d is there", round).isTrue();
    assertThat(mirror.call(round)).isEqualTo(round + 1);
    assertThat(mirror.digest(round)).isEqualTo(77L * round);
    assertThat(mirror.totalBytes(round)).isEqualTo(PIECE_BYTES);
    for (int i = 0; i < PIECE_BYTES; i++) {
      assertThat(mirror.piece(round).get(i)).isEqualTo((byte) (round + i));
    }
    assertThat(mirror.callText(round + 1)).isEqualTo("call of round " + round);
  }

  @Test
  void mirrorFollowsItsLane() {
    deliver();
    for (int round = 0; round < 5; round++) {
      post(round);
      deliver();
      assertMirrored(round);
      assertThat(mirror.hasPosted(round + 1)).isFalse();
    }
    own.fail(new Failure(Failure.Kind.DEADLINE, 1, "too late"));
    deliver();
    assertThat(mirror.state()).isEqualTo(Lane.BROKEN);
    assertThat(mirror.failure()).isEqualTo(new Failure(Failure.Kind.DEADLINE, 1, "too late"));
    assertThat(mirror.finished()).isEqualTo(5);
  }

  /**
   * Out of memory in a network thread, for example: otherwise the rank waits until its deadline.
   */
  @Test
  void failureToProcessAMessageBreaksTheGroup() {
    deliver();
    mirror.add(null); // ringing it fails
    post(0);
    assertThatThrownBy(this::deliver).isInstanceOf(NullPointerException.class);
    assertThat(mirror.state()).isEqualTo(Lane.BROKEN);
    assertThat(mirror.failure().kind()).isEqualTo(Failure.Kind.RANK_FAILED);
    assertThat(mirror.failure().message())
        .contains("a message of rank 0 could not be processed")
        .contains("NullPointerException");
    mirror.remove(null);
  }

  @Test
  void firstAnswerContainsEarlierPosts() {
    post(0);
    post(1);
    own.leave();
    assertThat(atOwner.takeSent()).as("nobody has asked").isEmpty();
    deliver();
    assertMirrored(0);
    assertMirrored(1);
    assertThat(mirror.state()).isEqualTo(Lane.CLOSED);
  }

  @Test
  void mirrorWaitsAtAGapAndRequestsTheLostMessage() {
    deliver();
    post(0);
    atOwner.takeSent(); // lost
    post(1);
    own.leave();
    deliver(atOwner.takeSent(), atReader);
    assertThat(mirror.hasPosted(0)).as("rounds come in order").isFalse();
    assertThat(mirror.state()).as("what a rank said last comes after its pieces").isZero();
    deliver(); // what it asked for when it saw the gap
    assertMirrored(0);
    assertMirrored(1);
    assertThat(mirror.state()).isEqualTo(Lane.CLOSED);
  }

  @Test
  void answerOmitsPiecesInTransit() {
    deliver();
    post(0);
    List<RecordingMessenger.Sent> slow = atOwner.takeSent();
    ask();
    deliver(atReader.takeSent(), atOwner);
    List<RecordingMessenger.Sent> answer = atOwner.takeSent();
    assertThat(answer)
        .singleElement()
        .satisfies(words -> assertThat(words.message().remaining()).isLessThan(PIECE_BYTES / 2));
    deliver(slow, atReader);
    deliver(answer, atReader);
    assertMirrored(0);
    assertThat(atReader.hasSent()).isFalse();
  }

  @Test
  void answerRevealsALostLastMessage() {
    deliver();
    post(0);
    atOwner.takeSent(); // lost
    ask();
    deliver(); // the words, which make it ask for the piece
    deliver();
    assertMirrored(0);
  }

  @Test
  void acceptsDuplicateAndReorderedMessages() {
    long seed = CommunicatorContract.seed();
    deliver();
    List<RecordingMessenger.Sent> all = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      post(round);
      all.addAll(atOwner.takeSent());
    }
    own.leave();
    all.addAll(atOwner.takeSent());
    List<RecordingMessenger.Sent> mixed = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Collections.shuffle(all, new Random(seed + i));
      mixed.addAll(all);
    }
    deliver(mixed, atReader);
    assertMirrored(0);
    assertMirrored(1);
    assertThat(mirror.state()).as("seed %d", seed).isEqualTo(Lane.CLOSED);
  }

  @Test
  void resendsTheLastMessagesOfAClosedLane() throws IOException {
    deliver();
    post(0);
    post(1);
    atOwner.takeSent(); // lost
    endpoint.close();
    atOwner.takeSent(); // lost, too
    ask();
    deliver();
    assertMirrored(0);
    assertMirrored(1);
    assertThat(mirror.state()).isEqualTo(Lane.CLOSED);
  }

  @Test
  void reportsAnUnknownLaneAsClosed() throws IOException {
    LaneAddress never = LaneExchange.overMessages(new RecordingMessenger("owner")).newAddress(0, 2);
    Mirror ofNobody = (Mirror) readersExchange.hold(never).lane();
    deliver();
    assertThat(ofNobody.state()).isEqualTo(Lane.CLOSED);
  }

  @Test
  void ignoresUpdatesOfALaneNotHeld() throws IOException {
    deliver();
    RecordingMessenger elsewhere = new RecordingMessenger("elsewhere");
    try (LaneExchange other = LaneExchange.overMessages(elsewhere);
        GroupEndpoint endpointThere = GroupEndpoint.create(other, 1, 2)) {
      Mirror ofOther =
          (Mirror) readersExchange.hold(LaneAddress.parse(endpointThere.address())).lane();
      post(0);
      deliver(atOwner.takeSent(), atReader);
      assertThat(ofOther.hasPosted(0)).isFalse();
      post(1);
      atOwner.takeSent().forEach(sent -> elsewhere.receiver().received(sent.message()));
      assertThat(elsewhere.takeSent()).isEmpty();
    }
  }

  @Test
  void sendsOnlyThePartsThatAProcessReads() {
    own.setRanksOf(Map.of(atReader.local(), new int[] {1, 2}));
    deliver();
    for (int i = 0; i < 48; i++) {
      own.memory().piece(0).put(i, (byte) (i + 1));
    }
    own.post(0, 1, 0, 48, new PieceParts(8, 10, 4, 4)); // parts of 2, 3, 2 and 3 elements
    deliver();
    byte[] piece = new byte[36];
    mirror.piece(0).get(0, piece);
    byte[] expected = new byte[36];
    for (int i = 0; i < 36; i++) {
      expected[i] = (byte) (i < 8 || i >= 16 ? i + 1 : 0);
    }
    assertThat(piece).isEqualTo(expected);
    assertThat(mirror.piece(0).capacity()).isEqualTo(36);
  }

  /** Cut short, with a byte changed, or of random bytes: refused, or understood; nothing else. */
  @Test
  void refusesMalformedMessages() {
    long seed = CommunicatorContract.seed();
    Random random = new Random(seed);
    List<byte[]> good = new ArrayList<>();
    atReader.takeSent().forEach(sent -> good.add(sent.message().array()));
    atOwner.receiver().received(ByteBuffer.wrap(good.get(0)));
    post(0);
    own.fail(new Failure(Failure.Kind.LOST, 1, "gone"));
    atOwner.takeSent().forEach(sent -> good.add(sent.message().array()));
    assertThat(good).hasSizeGreaterThanOrEqualTo(3);
    int refused = 0;
    for (int i = 0; i < 50_000; i++) {
      byte[] bytes = good.get(random.nextInt(good.size())).clone();
      int kind = random.nextInt(3);
      if (kind == 0) {
        bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
      } else if (kind == 1) {
        bytes[17 + random.nextInt(bytes.length - 17)] = (byte) random.nextInt();
      } else {
        random.nextBytes(bytes);
      }
      try {
        atReader.receiver().received(ByteBuffer.wrap(bytes));
        assertThat(kind).as("a message cut short was taken, seed %d", seed).isNotZero();
      } catch (MalformedMessageException e) {
        refused++;
      }
      atReader.takeSent();
    }
    assertThat(refused).as("seed %d", seed).isGreaterThan(32_500);
  }

  @Test
  void aRefusedMessageChangesNothing() {
    deliver();
    post(0);
    ByteBuffer good = atOwner.takeSent().get(0).message().order(ByteOrder.LITTLE_ENDIAN);
    for (int length = 0; length < good.capacity(); length++) {
      ByteBuffer cut = good.duplicate().limit(length);
      assertThatThrownBy(() -> atReader.receiver().received(cut))
          .isInstanceOf(MalformedMessageException.class);
    }
    assertThat(mirror.hasPosted(0)).isFalse();
    assertThat(mirror.entered()).isZero();
    atReader.receiver().received(good);
    assertMirrored(0);
  }

  @Test
  void messagesFitTheLimitOfAMessenger() {
    deliver();
    own.enter(1, "x".repeat(1000));
    own.post(0, 1, 0, Lane.SLOT_BYTES, new PieceParts(4, 65_535, 4, 2));
    own.fail(new Failure(Failure.Kind.LOST, 1, "y".repeat(2000)));
    assertThat(atOwner.takeSent())
        .allSatisfy(sent -> assertThat(sent.message().remaining()).isLessThan(300_000));
  }

  @Test
  void addressesAreShortAndRefuseLongHostNames() throws IOException {
    assertThat(address.toBytes().length).isLessThan(58);
    String name = "h".repeat(200);
    LaneExchange away = LaneExchange.overMessages(new RecordingMessenger(name));
    assertThatThrownBy(() -> GroupEndpoint.create(away, 0, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("use a shorter one, or the IP address");
    assertThat(GroupEndpoint.process(endpoint.address()))
        .contains(new ProcessAddress("owner", 1, 1));
  }

  @Test
  void refusesAnAddressOutsideTheRoot() {
    for (String directory : List.of("../x", "/etc", "a/../../b")) {
      LaneAddress out = new LaneAddress(0, 2, address.nonce(), address.host(), directory, null);
      assertThatThrownBy(() -> LaneAddress.parse(out.toBytes()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(directory);
    }
    byte[] bytes =
        new LaneAddress(0, 2, address.nonce(), address.host(), "", address.process()).toBytes();
    assertThat(LaneAddress.parse(bytes).directory()).isEmpty();
  }
}
