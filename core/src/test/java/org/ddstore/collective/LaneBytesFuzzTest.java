// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.contract.Untrusted;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages between lanes, and their addresses. */
class LaneBytesFuzzTest {
  private static final ProcessAddress HERE = new ProcessAddress("here", 1, 1);
  private static final Nonce LANE = new Nonce(1, 2);
  private static final LaneAddress ADDRESS =
      new LaneAddress(0, 2, LANE, new BootId(3), "ddstore-7", HERE);

  /** A messenger that loses all messages. */
  private static final class Nowhere implements Messenger {
    @Override
    public ProcessAddress local() {
      return HERE;
    }

    @Override
    public void setReceiver(Receiver receiver) {}

    @Override
    public void send(ProcessAddress to, ByteBuffer message) {}

    @Override
    public boolean isAlive(ProcessAddress process) {
      return true;
    }
  }

  static List<byte[]> addresses() {
    return List.of(ADDRESS.toBytes());
  }

  @MethodSource("addresses")
  @FuzzTest
  void address(byte[] bytes) {
    Untrusted.parse(() -> LaneAddress.parse(bytes), IllegalArgumentException.class);
  }

  /** Messages of a lane that the process mirrors. */
  static List<byte[]> messages() {
    List<byte[]> all = new ArrayList<>();
    all.add(new LaneRequest(LANE, 3, true, HERE).toMessage().array());
    ByteBuffer update = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
    LaneUpdate.putPrefix(update, LaneUpdate.KIND, LANE);
    update.putLong(1).putLong(1).putLong(0).put((byte) Lane.OPEN).put((byte) 0);
    update
        .putShort((short) 1)
        .put((byte) 'x')
        .putShort((short) 0); // text of this and the last call
    update.putShort((short) 1).putLong(7).putLong(8).putLong(4).putInt(0).putInt(4).putInt(9);
    all.add(Arrays.copyOf(update.array(), update.position()));
    return all;
  }

  @MethodSource("messages")
  @FuzzTest
  void message(byte[] bytes) {
    try (LaneMessages messages = new LaneMessages(new Nowhere())) {
      Mirror mirror = messages.mirror(ADDRESS);
      for (int copies = 0; copies < 2; copies++) {
        Untrusted.parse(
            () -> {
              messages.received(ByteBuffer.wrap(bytes));
              return mirror.updates();
            },
            MalformedMessageException.class);
      }
    }
  }
}
