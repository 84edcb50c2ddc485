// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.Test;

/** Handling of malformed messages, and of messages that were changed in transit. */
class MalformedMessagesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final class Loop implements Messenger {
    private final List<byte[]> sent = new CopyOnWriteArrayList<>();
    private Receiver receiver;

    @Override
    public ProcessAddress local() {
      return new ProcessAddress("here", 1, 1);
    }

    @Override
    public void setReceiver(Receiver newReceiver) {
      receiver = newReceiver;
    }

    @Override
    public void send(ProcessAddress to, ByteBuffer message) {
      byte[] bytes = new byte[message.remaining()];
      message.get(bytes);
      if (to.equals(local())) { // a changed message may ask for an answer elsewhere
        sent.add(bytes);
        receiver.received(ByteBuffer.wrap(bytes));
      }
    }

    @Override
    public boolean isAlive(ProcessAddress process) {
      return true;
    }

    void receive(byte[] message) {
      receiver.received(ByteBuffer.wrap(message));
    }
  }

  /** Only the group whose messages they pretend to be is concerned. */
  @Test
  void corruptedMessagesLeaveOtherGroupsIntact() throws Exception {
    long seed = System.nanoTime();
    System.out.println("corruptedMessagesLeaveOtherGroupsIntact: seeds from " + seed + " on");
    Loop loop = new Loop();
    try (LaneExchange exchange = LaneExchange.overMessages(loop)) {
      List<Communicator> attacked = group(exchange);
      talk(attacked);
      List<byte[]> genuine = List.copyOf(loop.sent);
      List<Communicator> other = group(exchange);
      for (int i = 0; i < 2_000; i++) {
        Random random = new Random(seed + i);
        isRefused(loop, mutate(random, genuine.get(random.nextInt(genuine.size()))), seed + i);
      }
      talk(other);
      attacked.forEach(Communicator::close);
      other.forEach(Communicator::close);
    }
  }

  /** It comes from a peer that has proved the token, so what it says well is taken for true. */
  @Test
  void boundsTheReasonOfAFailure() throws Exception {
    Loop loop = new Loop();
    try (LaneExchange exchange = LaneExchange.overMessages(loop)) {
      List<Communicator> group = group(exchange);
      group.get(0).abort(new IllegalStateException("x".repeat(100_000)));
      assertThatThrownBy(group.get(1)::barrier)
          .isInstanceOf(RankFailedException.class)
          .satisfies(e -> assertThat(e.getMessage().length()).isLessThan(10_000));
      group.forEach(Communicator::close);
    }
  }

  private static List<Communicator> group(LaneExchange exchange) throws Exception {
    List<GroupEndpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      endpoints.add(GroupEndpoint.create(exchange, rank, 2));
    }
    return Ranks.connect(endpoints, PATIENCE);
  }

  private static void talk(List<Communicator> group) throws Exception {
    Ranks.values(
        group,
        c -> {
          float[] sum = {c.rank() + 1, 2};
          c.allReduce(sum, ReduceOp.SUM);
          assertThat(sum).containsExactly(3, 4);
          return c.allGather(new byte[100 * c.rank()]);
        });
  }

  private static boolean isRefused(Loop loop, byte[] message, long seed) {
    try {
      loop.receive(message);
      return false;
    } catch (MalformedMessageException e) {
      return true;
    } catch (RuntimeException e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private static byte[] mutate(Random random, byte[] genuine) {
    byte[] bytes = genuine.clone();
    for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 -> {
          int[] extremes = {-1, 0, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 16, 1 << 30};
          ByteBuffer.wrap(bytes)
              .putInt(Math.min(at, bytes.length - 4), extremes[random.nextInt(extremes.length)]);
        }
        default -> bytes = Arrays.copyOf(bytes, Math.max(4, at + random.nextInt(20)));
      }
    }
    return bytes;
  }
}
