package org.ddstore.spark.wire;

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
import org.ddstore.types.ProcessAddress;

/**
 * The connections of a JVM: one to each other JVM, opened when it is first needed, whoever of the
 * two needs it first. If both open one at the same time, that of the smaller process id stays.
 */
final class Connections {
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
   * @param connectors run what blocks
   * @param whenLost told of each process to which a connection ended or could not be made
   */
  Connections(
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

  /** A connection on which the token of a store has been proved. Does not block. */
  CompletableFuture<Connection> to(ProcessAddress peer, StoreToken token) {
    CompletableFuture<Connection> connection = connection(peer, token);
    if (connection.isDone()
        && !connection.isCompletedExceptionally()
        && connection.join().isAuthorised(token.id())) {
      return connection;
    }
    return connection.thenApplyAsync(found -> prove(found, token), connectors);
  }

  private CompletableFuture<Connection> connection(ProcessAddress peer, StoreToken token) {
    CompletableFuture<Connection> made = new CompletableFuture<>();
    CompletableFuture<Connection> current =
        byPeer.compute(peer.id(), (id, known) -> isUsable(known) ? known : made);
    if (current == made) {
      try {
        connectors.execute(() -> open(peer, token, made));
      } catch (RuntimeException | Error e) { // closed, or no more threads
        byPeer.remove(peer.id(), made);
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

  private void open(ProcessAddress peer, StoreToken token, CompletableFuture<Connection> made) {
    try {
      Connection connection = adopt(factory.createUnmanagedClient(peer.host(), peer.port()), peer);
      try {
        prove(connection, token);
      } catch (DuplicateException e) {
        end(connection);
        made.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS); // accepted() completes it
        return;
      } catch (RuntimeException e) {
        end(connection);
        throw e;
      }
      ended.remove(peer.id());
      if (!made.complete(connection)) {
        end(connection); // the peer's was faster
      }
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      if (isNobodyListening(e) || e instanceof OtherProcessException) {
        ended.add(peer.id());
      }
      made.completeExceptionally(e);
      byPeer.remove(peer.id(), made);
      whenLost.accept(peer);
    }
  }

  /** Also if its channel has ended before {@link #adopt}, and so nobody will call {@link #lost}. */
  private void end(Connection connection) {
    forget(connection);
    connection.close();
  }

  /** Nothing that comes over a connection counts any more. */
  void forget(Connection connection) {
    byChannel.remove(connection.channel());
  }

  /**
   * Nothing listens at the port any more, by word of the host. A connection that times out, or to
   * which no route leads, tells nothing: the network may be back before the deadline of who waits.
   */
  static boolean isNobodyListening(Throwable e) {
    Throwable cause = e.getCause();
    return cause instanceof ConnectException
        && String.valueOf(cause.getMessage()).startsWith("Connection refused");
  }

  /** The connection over a channel, whoever opened it. */
  Connection adopt(TransportClient client, ProcessAddress peer) {
    return byChannel.computeIfAbsent(
        client.getChannel().id(), channel -> new Connection(client, peer));
  }

  /** The connection over a channel, or null if the peer has proved nothing yet. */
  Connection over(TransportClient client) {
    return byChannel.get(client.getChannel().id());
  }

  /** Proves the token of a store on a connection, both ways. Blocks. */
  private Connection prove(Connection connection, StoreToken token) {
    Nonce store = token.id();
    synchronized (connection) {
      if (connection.isAuthorised(store)) {
        return connection;
      }
      Handshake handshake = Handshake.begin(store, connection.peer(), local);
      ByteBuffer answer = ask(connection, handshake.hello());
      ByteBuffer proof = handshake.prove(answer, token);
      connection.authorise(store); // the server may ask as soon as it has the proof
      try {
        ask(connection, proof);
      } catch (RuntimeException e) {
        connection.forbid(store);
        throw e;
      }
      return connection;
    }
  }

  private ByteBuffer ask(Connection connection, ByteBuffer request) {
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
          throw new SecurityException(connection.peer() + " refused the handshake: " + status);
    }
  }

  /** Whether this process is itself about to connect to a peer, and that connection is to stay. */
  boolean isDuplicate(ProcessAddress peer) {
    return isDuplicate(peer, byPeer.get(peer.id()));
  }

  private boolean isDuplicate(ProcessAddress peer, CompletableFuture<Connection> known) {
    return known != null && !known.isDone() && local.id() < peer.id();
  }

  /**
   * Takes a connection that a peer has opened, unless there is one.
   *
   * @return false if it is a duplicate: if both took that of the other, both would close their own
   */
  boolean accepted(Connection connection) {
    ProcessAddress peer = connection.peer();
    if (peer.id() == local.id()) {
      return true; // to itself
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

  /** Forgets the connection over a channel that has ended, if there is one. */
  void lost(TransportClient client) {
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

  /** Closes all connections. */
  void close() {
    byChannel.values().forEach(Connection::close);
  }

  /** False if the process is known to have ended. */
  boolean mayBeAlive(ProcessAddress peer) {
    return !ended.contains(peer.id());
  }

  /** True if there is a connection, or one is being made. */
  boolean isConnected(ProcessAddress peer) {
    return isUsable(byPeer.get(peer.id()));
  }

  /** Why a connection could not be made, without the wrapping of futures. */
  static Throwable cause(Throwable e) {
    Throwable cause = e;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** The process has no such store, or no more. */
  static final class StoreGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StoreGoneException(ProcessAddress peer) {
      super(peer + " has closed the store");
    }
  }

  /** The port belongs to another process by now. */
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
