// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * A dispatcher of messages from other processes to the lane that they concern. The kinds are {@link
 * LaneRequest}, {@link LaneUpdate}, and a notice that a lane is gone, which consists of kind and
 * nonce. Only a process that knows its address can request a lane, so the lane was created earlier:
 * an unknown lane is gone.
 */
final class LaneMessages implements Messenger.Receiver, AutoCloseable {
  private static final byte GONE = 3;

  private final Messenger messenger;
  private final Map<Nonce, OwnLane> own = new ConcurrentHashMap<>();
  private final Map<Nonce, Mirror> mirrors = new ConcurrentHashMap<>();
  private final LastMessages lastMessages = new LastMessages();
  private volatile boolean closed;

  LaneMessages(Messenger messenger) {
    this.messenger = Objects.requireNonNull(messenger, "messenger is null");
    messenger.setReceiver(this);
  }

  Messenger messenger() {
    return messenger;
  }

  ProcessAddress local() {
    return messenger.local();
  }

  void add(OwnLane lane) {
    own.put(lane.nonce(), lane);
  }

  void retire(OwnLane lane) {
    lastMessages.add(lane);
    own.remove(lane.nonce());
  }

  /** Creates a mirror of a lane and requests its state at once. */
  Mirror mirror(LaneAddress address) {
    Mirror mirror =
        new Mirror(new LaneOwner(address.nonce(), address.process(), messenger), address.rank());
    mirrors.put(address.nonce(), mirror);
    mirror.ask();
    return mirror;
  }

  void remove(Mirror mirror) {
    mirrors.remove(mirror.owner().lane());
  }

  @Override
  public void received(ByteBuffer message) {
    ByteBuffer in = message.slice().order(ByteOrder.LITTLE_ENDIAN);
    Nonce lane;
    LaneRequest ask = null;
    LaneUpdate update = null;
    try {
      byte kind = in.get();
      lane = Nonce.read(in, in.position());
      in.position(LaneUpdate.PREFIX_BYTES);
      switch (kind) {
        case LaneRequest.KIND -> ask = LaneRequest.parse(lane, in);
        case LaneUpdate.KIND -> update = LaneUpdate.parse(in);
        case GONE -> checkEnd(in);
        default -> throw new MalformedMessageException("unknown message kind " + kind);
      }
    } catch (BufferUnderflowException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new MalformedMessageException(
          "unreadable message of %d bytes: %s".formatted(message.remaining(), e));
    }
    if (closed) {
      return;
    }
    if (ask != null) {
      answer(ask);
    } else {
      bring(mirrors.get(lane), update);
    }
  }

  private static void checkEnd(ByteBuffer in) {
    if (in.hasRemaining()) {
      throw new MalformedMessageException("message with " + in.remaining() + " excess bytes");
    }
  }

  /** Applies an update to its mirror; a mirror that is unknown was released by its last user. */
  private static void bring(Mirror mirror, LaneUpdate update) {
    if (mirror == null) {
      return;
    }
    try {
      if (update == null) {
        mirror.markGone();
      } else {
        mirror.apply(update);
      }
    } catch (RuntimeException | Error e) { // only the waiting ranks can be told
      mirror.fail(e);
    }
  }

  private void answer(LaneRequest ask) {
    OwnLane lane = own.get(ask.lane());
    if (lane != null && lane.answer(ask)) {
      return;
    }
    List<ByteBuffer> last = lastMessages.of(ask.lane());
    last.forEach(message -> messenger.send(ask.asker(), message.duplicate()));
    if (last.isEmpty()) {
      ByteBuffer gone = ByteBuffer.allocate(LaneUpdate.PREFIX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      LaneUpdate.putPrefix(gone, GONE, ask.lane());
      messenger.send(ask.asker(), gone.flip());
    }
  }

  @Override
  public void disconnected(ProcessAddress process) {
    for (Mirror mirror : mirrors.values()) {
      mirror.disconnected(process);
    }
  }

  @Override
  public void close() {
    closed = true;
    own.clear();
    mirrors.clear();
  }
}
