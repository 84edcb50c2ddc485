// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.ddstore.nativeio.RowServer;
import org.ddstore.spark.wire.connection.ServedReads;
import org.ddstore.types.DDStoreException;

/**
 * The channels of a {@link DataLoop} whose requests C receives, and answers as far as it can. It
 * waits for the selector, too, which has the other channels, and those with a pending reply. Used
 * by the thread of the loop.
 */
final class ChannelsInC extends WaitInC implements AutoCloseable {
  private final RowServer server;
  private final Map<Long, ServedChannel> channels = new HashMap<>();

  private ChannelsInC(
      RowServer server, Selector selector, Consumer<SelectionKey> action, BooleanSupplier stop) {
    super(selector, action, stop);
    this.server = server;
  }

  /**
   * Opens a server in C, closed by the caller before the selector.
   *
   * @param action called for each channel of the selector that is ready
   * @param stop whether a wait ends without a channel, as in {@link PollingWait}
   * @param input direct buffer for requests
   * @param packed direct buffer for replies
   * @return null if C knows no selector of this JDK, so that Java answers all requests
   * @throws IOException if the system has no descriptor or memory left
   */
  static ChannelsInC open(
      Selector selector,
      Consumer<SelectionKey> action,
      BooleanSupplier stop,
      ByteBuffer input,
      ByteBuffer packed)
      throws IOException {
    RowServer server = RowServer.open(selector, input, packed);
    return server == null ? null : new ChannelsInC(server, selector, action, stop);
  }

  /** Answers the requests of a channel from now on; returns its number. */
  long add(ServedChannel served, GatherServer rows, SocketChannel channel) throws IOException {
    ServedReads reads = served.reads();
    long number = rows.serve(server, channel, reads == null ? null : reads.counts());
    keep(number, served);
    return number;
  }

  private void keep(long number, ServedChannel served) {
    try {
      channels.put(number, served);
    } catch (Error e) { // no memory
      server.remove(number);
      throw e;
    }
  }

  void remove(long number) {
    channels.remove(number);
    server.remove(number);
  }

  @Override
  public int shortSleeps() {
    return server.shortWaits();
  }

  @Override
  int waitInC(int timeoutMs, int mostWaits) throws IOException {
    return server.serve(timeoutMs, mostWaits, PollingWait.SHORT_NS);
  }

  @Override
  boolean isSelectorReady() {
    return server.isSelectorReady();
  }

  @Override
  int handle() {
    if (server.kind() == RowServer.Kind.NONE) {
      return 0;
    }
    handle(channels.get(server.channel()));
    return 1;
  }

  private void handle(ServedChannel channel) {
    RowServer.Kind kind = server.kind();
    switch (kind) {
      case SIZE ->
          channel.refuse(kind.text(), "a request of %,d bytes".formatted(server.requestBytes()));
      case TRUNCATED, ILLEGAL -> channel.refuse(kind.text(), "");
      case DAMAGED, NO_MEMORY -> channel.fail(new DDStoreException(kind.text()));
      default -> channel.close();
    }
  }

  /** Ends the service of all channels, which stay open. */
  @Override
  public void close() {
    channels.clear();
    server.close();
  }
}
