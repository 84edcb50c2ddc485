// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import io.netty.channel.ChannelId;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.Wire;
import org.ddstore.types.ProcessAddress;

/**
 * The connections of the {@link Wire} of a JVM: at most one to each other JVM, opened on first use
 * by either side. If both sides open one at the same time, the connection of the smaller process id
 * is kept.
 */
public final class Connections {
  private final ProcessAddress local;
  private final TransportClientFactory factory;
  private final Executor connectors;
  private final Duration timeout;
  private final Consumer<ProcessAddress> whenLost;
  private final ConcurrentHashMap<Long, CompletableFuture<Connection>> byPeer =
      new ConcurrentHashMap<>();
  private final ConcurrentHashMap<ChannelId, Connection> byChannel = new ConcurrentHashMap<>();
  private final Set<Long> ended = ConcurrentHashMap.newKeySet();

  /**
   * @param connectors executor of blocking calls
   * @param whenLost callback for each process whose connection ended or could not be opened
   */
  public Connections(
      ProcessAddress local,
      TransportClientFactory factory,
      Executor connectors,
      Duration timeout,
      Consumer<ProcessAddress> whenLost) {
    this.local = local;
    this.factory = factory;
    this.connectors = connectors;
    this.timeout = timeout;
    this.whenLost = whenLost;
  }

  /** Returns a connection on which the token of a store is proved. Does not block. */
  public CompletableFuture<Connection> to(ProcessAddress peer, StoreToken token) {
    CompletableFuture<Connection> connection = connection(peer, token);
    if (connection.isDone()
        && !connection.isCompletedExceptionally()
        && connection.join().isAuthorised(token.id())) {
      return connection;
    }
    return connection.thenApplyAsync(found -> prove(found, token), connectors);
  }

  private CompletableFuture<Connection> connection(ProcessAddress peer, StoreToken token) {
    CompletableFuture<Connection> opening = new CompletableFuture<>();
    CompletableFuture<Connection> current =
        byPeer.compute(peer.id(), (id, known) -> isUsable(known) ? known : opening);
    if (current == opening) {
      try {
        connectors.execute(() -> open(peer, token, opening));
      } catch (RuntimeException | Error e) { // closed, or out of threads
        byPeer.remove(peer.id(), opening);
        throw e;
      }
    }
    return current;
  }

  private static boolean isUsable(CompletableFuture<Connection> known) {
    return known != null
        && !known.isCompletedExceptionally()
        && (!known.isDone() || known.join().isActive());
  }

  private void open(ProcessAddress peer, StoreToken token, CompletableFuture<Connection> opening) {
    try {
      Connection connection = adopt(factory.createUnmanagedClient(peer.host(), peer.port()), peer);
      try {
        prove(connection, token);
      } catch (DuplicateException e) {
        end(connection);
        opening.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS); // accepted() completes it
        return;
      } catch (RuntimeException e) {
        end(connection);
        throw e;
      }
      ended.remove(peer.id());
      if (!opening.complete(connection)) {
        end(connection); // the peer's connection was accepted first
      }
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      if (isNobodyListening(e) || e instanceof OtherProcessException) {
        ended.add(peer.id());
      }
      opening.completeExceptionally(e);
      byPeer.remove(peer.id(), opening);
      whenLost.accept(peer);
    }
  }

  /** Removes and closes a connection, even if its channel ended before {@link #adopt}. */
  private void end(Connection connection) {
    forget(connection);
    connection.close();
  }

  /** Ignores further requests and messages of a connection. */
  public void forget(Connection connection) {
    byChannel.remove(connection.channel());
  }

  /**
   * Returns whether the host reports that nothing listens at the port. A timeout or a missing route
   * is not evidence: the network can recover before the caller's deadline.
   */
  public static boolean isNobodyListening(Throwable e) {
    Throwable cause = e.getCause();
    return cause instanceof ConnectException
        && String.valueOf(cause.getMessage()).startsWith("Connection refused");
  }

  /** Returns the connection over a channel, registering it if necessary. */
  public Connection adopt(TransportClient client, ProcessAddress peer) {
    return byChannel.computeIfAbsent(
        client.getChannel().id(), channel -> new Connection(client, peer));
  }

  /** Returns the connection over a channel, or null if the peer has not proved a token yet. */
  public Connection over(TransportClient client) {
    return byChannel.get(client.getChannel().id());
  }

  /** Proves the token of a store on a connection in both directions. Blocks. */
  private Connection prove(Connection connection, StoreToken token) {
    Nonce store = token.id();
    synchronized (connection) {
      if (connection.isAuthorised(store)) {
        return connection;
      }
      Handshake handshake = Handshake.begin(store, connection.peer(), local);
      ByteBuffer answer = ask(connection, handshake.hello());
      ByteBuffer proof = handshake.prove(answer, token);
      connection.serve(store); // the server can send requests as soon as it has the proof
      try {
        ask(connection, proof);
      } catch (RuntimeException e) {
        connection.forbid(store);
        throw e;
      }
      connection.authorise(store);
      return connection;
    }
  }

  /** Sends a request and returns the answer after its status {@link Status#OK}. Blocks. */
  public ByteBuffer ask(Connection connection, ByteBuffer request) {
    ByteBuffer answer = connection.requestAndWait(request, timeout.toMillis());
    byte status = answer.get();
    switch (status) {
      case Status.OK -> {
        return answer;
      }
      case Status.GONE -> throw new StoreGoneException(connection.peer());
      case Status.OTHER_PROCESS -> throw new OtherProcessException(connection.peer());
      case Status.DUPLICATE -> throw new DuplicateException();
      default ->
          throw new SecurityException(
              "process " + connection.peer() + " refused the handshake: " + status);
    }
  }

  /** Returns whether this process is connecting to the peer and its connection takes precedence. */
  public boolean isDuplicate(ProcessAddress peer) {
    return isDuplicate(peer, byPeer.get(peer.id()));
  }

  private boolean isDuplicate(ProcessAddress peer, CompletableFuture<Connection> known) {
    return known != null && !known.isDone() && local.id() < peer.id();
  }

  /**
   * Registers a connection opened by a peer, unless one exists.
   *
   * @return false if it is a duplicate: if both sides accepted the other's connection, both would
   *     close their own
   */
  public boolean accepted(Connection connection) {
    ProcessAddress peer = connection.peer();
    if (peer.id() == local.id()) {
      return true; // connection to this process
    }
    ended.remove(peer.id());
    CompletableFuture<Connection> taken = CompletableFuture.completedFuture(connection);
    CompletableFuture<Connection> known =
        byPeer.compute(peer.id(), (id, old) -> isUsable(old) ? old : taken);
    if (isDuplicate(peer, known)) {
      return false;
    }
    known.complete(connection);
    return true;
  }

  /** Removes the connection over a channel that has ended, if it exists. */
  public void connectionLost(TransportClient client) {
    Connection connection = byChannel.remove(client.getChannel().id());
    if (connection == null) {
      return;
    }
    byPeer.computeIfPresent(
        connection.peer().id(),
        (id, known) ->
            known.isDone() && !known.isCompletedExceptionally() && known.join() == connection
                ? null
                : known);
    whenLost.accept(connection.peer());
  }

  public void close() {
    byChannel.values().forEach(Connection::close);
  }

  /** Returns false if the process is known to have ended. */
  public boolean mayBeAlive(ProcessAddress peer) {
    return !ended.contains(peer.id());
  }

  ProcessAddress local() {
    return local;
  }

  public boolean isConnected(ProcessAddress peer) {
    return isUsable(byPeer.get(peer.id()));
  }

  /** Returns the cause of a failed connection, without the wrapping of futures. */
  public static Throwable cause(Throwable e) {
    Throwable cause = e;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** The process does not have the store, or has closed it. */
  public static final class StoreGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StoreGoneException(ProcessAddress peer) {
      super("process " + peer + " has closed the store");
    }
  }

  /** The port now belongs to another process. */
  static final class OtherProcessException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OtherProcessException(ProcessAddress peer) {
      super("another process listens at " + peer);
    }
  }

  private static final class DuplicateException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}
