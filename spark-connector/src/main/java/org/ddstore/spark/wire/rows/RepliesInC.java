// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.ddstore.nativeio.ReplyReceiver;

/**
 * The data channels of a {@link GatherReader} whose replies C receives. It waits for the selector,
 * too, which has the other channels, and those with unsent requests. Used by the reading thread.
 */
final class RepliesInC extends WaitInC implements AutoCloseable {
  private final ReplyReceiver receiver;
  private final List<DataChannel> channels = new ArrayList<>(); // by number; null: free
  private int arrivals;

  private RepliesInC(
      ReplyReceiver receiver,
      Selector selector,
      Consumer<SelectionKey> action,
      BooleanSupplier stop) {
    super(selector, action, stop);
    this.receiver = receiver;
  }

  /**
   * Opens a receiver in C, closed by the caller before the selector.
   *
   * @param action called for each channel of the selector that is ready
   * @param stop whether a wait ends without a channel, as in {@link PollingWait}
   * @return null if C knows no selector of this JDK, so that Java receives all replies
   * @throws IOException if the system has no descriptor or memory left
   */
  static RepliesInC open(Selector selector, Consumer<SelectionKey> action, BooleanSupplier stop)
      throws IOException {
    ReplyReceiver receiver = ReplyReceiver.open(selector);
    return receiver == null ? null : new RepliesInC(receiver, selector, action, stop);
  }

  ReplyReceiver receiver() {
    return receiver;
  }

  /** Receives the replies on a channel from now on; returns its handle. */
  long add(DataChannel channel, SocketChannel socket) throws IOException {
    int number = channels.indexOf(null);
    if (number < 0) {
      number = channels.size();
      channels.add(null);
    }
    long handle = receiver.add(socket, number);
    channels.set(number, channel);
    return handle;
  }

  void remove(DataChannel channel, long handle) {
    channels.set(channels.indexOf(channel), null);
    receiver.remove(handle);
  }

  @Override
  int waitInC(int timeoutMs, int mostWaits) throws IOException {
    arrivals = 0;
    arrivals = receiver.receive(timeoutMs, mostWaits, PollingWait.SHORT_NS);
    return arrivals;
  }

  @Override
  boolean isSelectorReady() {
    return receiver.isSelectorReady();
  }

  @Override
  int handle() {
    for (int a = 0; a < arrivals; a++) {
      DataChannel channel = channels.get(receiver.number(a));
      if (channel != null) { // not dropped by the arrivals before
        channel.arrived(receiver.kind(a), receiver.bytes(a), receiver.error(a));
      }
    }
    return 0;
  }

  @Override
  public int shortSleeps() {
    return receiver.shortWaits();
  }

  /** Removes all channels, which stay open. */
  @Override
  public void close() {
    channels.clear();
    receiver.close();
  }
}
