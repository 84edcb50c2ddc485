// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.UnauthenticatedConnections;
import org.ddstore.types.Cleanup;

/**
 * The owner's side of the data channels of this JVM: a port, and threads that answer the requests.
 * A channel serves the rows of one store, for a peer with a {@link DataTickets ticket} or a read
 * key.
 */
public final class DataServer implements AutoCloseable {
  private final ServerSocketChannel listener;
  private final int port;
  private final DataTickets tickets;
  private final List<DataLoop> loops = new ArrayList<>();

  /**
   * @param port port to listen at; 0 for any
   * @param inC whether C answers the requests that it can, if the library is loaded
   * @param life time within which a ticket must be used, and a new channel must show one
   * @throws IOException if the port cannot be opened
   */
  public DataServer(
      String host,
      int port,
      int threads,
      ServedStores stores,
      boolean inC,
      RefusalLog refusals,
      Duration life)
      throws IOException {
    tickets = new DataTickets(life);
    listener = ServerSocketChannel.open();
    try {
      listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listener.bind(new InetSocketAddress(host, port), UnauthenticatedConnections.MAX_CONNECTIONS);
      listener.configureBlocking(false);
      this.port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
      int maxUnidentified = Math.max(1, UnauthenticatedConnections.MAX_CONNECTIONS / threads);
      DataLoop.Service service =
          new DataLoop.Service(stores, inC, tickets, refusals, life, maxUnidentified);
      for (int i = 0; i < threads; i++) {
        loops.add(new DataLoop(i, service));
      }
      loops.get(0).listen(listener, loops);
      loops.forEach(DataLoop::start);
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  public int port() {
    return port;
  }

  public DataTickets.Ticket issue(Nonce store) {
    return tickets.issue(store);
  }

  /** Closes the channels of a store that this process leaves. Does not wait. */
  public void closeChannels(Nonce store) {
    loops.forEach(loop -> loop.closeChannels(store));
  }

  /** Closes the channels whose grants have ended. Does not wait. */
  public void endGrants() {
    loops.forEach(loop -> loop.execute(loop::endGrants));
  }

  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    loops.forEach(loop -> steps.add(loop::close));
    steps.add(() -> closeListener());
    Cleanup.runAll(steps.stream());
  }

  private void closeListener() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
