// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.types.ProcessAddress;

/** Keeps what is sent, and is told what is received. */
final class RecordingMessenger implements Messenger {
  record Sent(ProcessAddress to, ByteBuffer message) {}

  private final ProcessAddress local;
  private final List<Sent> sent = new ArrayList<>();
  private Receiver receiver;

  RecordingMessenger(String host) {
    local = new ProcessAddress(host, 1, 1);
  }

  Receiver receiver() {
    return receiver;
  }

  boolean hasSent() {
    return !sent.isEmpty();
  }

  List<Sent> takeSent() {
    List<Sent> all = List.copyOf(sent);
    sent.clear();
    return all;
  }

  @Override
  public ProcessAddress local() {
    return local;
  }

  @Override
  public void setReceiver(Receiver newReceiver) {
    receiver = newReceiver;
  }

  @Override
  public void send(ProcessAddress to, ByteBuffer message) {
    sent.add(new Sent(to, ByteBuffer.allocate(message.remaining()).put(message).flip()));
  }

  @Override
  public boolean isAlive(ProcessAddress process) {
    return true;
  }
}
