// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.StoreConnections;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The opening of paths to the rows of other processes: a data channel, or the connection itself if
 * the other process offers none or its data port cannot be reached.
 */
public final class DataPaths {
  private static final Logger LOG = LoggerFactory.getLogger(DataPaths.class);

  /** Time to reach a data port, which is on a host that has just answered. */
  private static final Duration MAX_CONNECT_TIME = Duration.ofSeconds(3);

  private final Connections connections;
  private final Executor openers;
  private final Duration timeout;
  private final boolean direct;
  private final AtomicBoolean reported = new AtomicBoolean();

  /**
   * @param openers executor of blocking calls
   * @param direct whether data channels are used if the other process offers them
   */
  public DataPaths(Connections connections, Executor openers, Duration timeout, boolean direct) {
    this.connections = connections;
    this.openers = openers;
    this.timeout = timeout.compareTo(MAX_CONNECT_TIME) < 0 ? timeout : MAX_CONNECT_TIME;
    this.direct = direct;
  }

  /** Returns the paths to the rows of a store. */
  public RowPaths of(StoreConnections store) {
    return new RowPaths() {
      @Override
      public Nonce store() {
        return store.store();
      }

      @Override
      public CompletableFuture<DataPath> open(ProcessAddress process) {
        return DataPaths.this.open(process, store.token());
      }

      @Override
      public CompletableFuture<?> probe(ProcessAddress process) {
        return connections
            .to(process, store.token())
            .thenAcceptAsync(
                found -> connections.ask(found, DataTickets.request(store.store())), openers);
      }

      @Override
      public boolean mayBeAlive(ProcessAddress process) {
        return store.mayBeAlive(process);
      }
    };
  }

  /** Opens a path to the rows of a store in another process. Does not block. */
  public CompletableFuture<DataPath> open(ProcessAddress peer, StoreToken token) {
    CompletableFuture<Connection> connection = connections.to(peer, token);
    return direct
        ? connection.thenApplyAsync(found -> open(found, token), openers)
        : connection.thenApply(found -> new DataPath(found, null));
  }

  private DataPath open(Connection connection, StoreToken token) {
    if (!connection.mayHaveDataPort()) {
      return new DataPath(connection, null);
    }
    ByteBuffer answer = connections.ask(connection, DataTickets.request(token.id()));
    int port = answer.getInt();
    if (port == 0) { // for now
      return new DataPath(connection, null);
    }
    try {
      DataTickets.Ticket ticket = DataTickets.Ticket.get(answer);
      return new DataPath(connection, DataChannel.open(connection.peer(), port, ticket, timeout));
    } catch (IOException e) {
      report(connection, port, e);
      return new DataPath(connection, null);
    }
  }

  /** Lets the connection be used for a while, and logs the first such case of this process. */
  private void report(Connection connection, int port, IOException e) {
    connection.noDataPort();
    String address = "%s:%d".formatted(connection.peer().host(), port);
    if (reported.compareAndSet(false, true)) {
      LOG.warn(
          "cannot reach data port {}: {}; rows are read over Spark's network, which is slower. Let"
              + " executors reach it, or set {}. Further such ports are logged at level DEBUG",
          address,
          e.getMessage(),
          OptionKeys.SETTING_DATA_PORT);
    } else {
      LOG.debug("cannot reach data port {}", address, e);
    }
  }
}
