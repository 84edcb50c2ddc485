package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.Messenger;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.memory.Segment;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.ProcessAddress;

/**
 * What the ranks of one store in this JVM share of the network: the segments that they export, and
 * the way to those of other processes. Closed by each who joined; the last one ends it.
 */
public final class WireSession implements Transport, AutoCloseable {
  private final Wire wire;
  private final StoreToken token;
  private final GatherServer server = new GatherServer();
  private final WireMessenger messenger;
  private final WireCalls calls;
  private final WireCalls control;
  private int users = 1; // guarded by wire
  private ProcessDirectory directory; // guarded by this
  private LaneExchange lanes; // guarded by this
  private OneSidedTransport oneSided; // guarded by this

  WireSession(Wire wire, StoreToken token) {
    this.wire = wire;
    this.token = token;
    this.messenger = new WireMessenger(this);
    this.calls = new WireCalls(this, WireCalls.CALL);
    this.control = new WireCalls(this, WireCalls.CONTROL);
  }

  StoreToken token() {
    return token;
  }

  GatherServer server() {
    return server;
  }

  /**
   * The lanes of all ranks of this store in this JVM.
   *
   * @param root under which ranks of this host find each other's files
   * @param shortcut whether they do; else messages carry everything
   */
  public synchronized LaneExchange lanes(Path root, boolean shortcut) {
    if (lanes == null && shortcut) {
      directory = ProcessDirectory.acquire(root);
      lanes = LaneExchange.overFilesAndMessages(directory, messenger);
    } else if (lanes == null) {
      lanes = LaneExchange.overMessages(messenger);
    }
    return lanes;
  }

  /**
   * The one-sided transport that all ranks of this store in this JVM use, closed with this.
   *
   * @param open makes it; called for the first rank
   */
  public synchronized OneSidedTransport oneSided(Function<PeerCalls, OneSidedTransport> open) {
    if (oneSided == null) {
      oneSided = open.apply(calls);
    }
    return oneSided;
  }

  /** The one-sided transport, if there is one, else tcp: for who reads and is no rank. */
  public synchronized Transport forReaders() {
    return oneSided == null ? this : oneSided;
  }

  /** Questions about the store itself, for who holds it; one service a process answers them. */
  public PeerCalls control() {
    return control;
  }

  WireCalls calls(byte kind) {
    return kind == WireCalls.CALL ? calls : control;
  }

  /** Carries the messages of the store's collectives, for an exchange of one's own. */
  Messenger messenger() {
    return messenger;
  }

  /** The last user has left. All is closed, whatever fails; the first failure is thrown. */
  synchronized void end() {
    List<Runnable> steps = new ArrayList<>();
    if (oneSided != null) {
      steps.add(oneSided::close);
    }
    if (lanes != null) {
      steps.add(lanes::close);
    }
    if (directory != null) {
      steps.add(directory::release);
    }
    steps.add(server::close);
    Cleanup.runAll(steps.stream());
  }

  /** The ranks of a process have left this store. */
  void gone(ProcessAddress process) {
    messenger.gone(process);
  }

  /** A connection has ended, or could not be made. */
  void lost(ProcessAddress process) {
    messenger.lost(process);
  }

  void addUser() {
    users++;
  }

  /** True if that was the last one. */
  boolean removeUser() {
    return --users == 0;
  }

  /** A message has come; the store has been read from it. */
  void received(ByteBuffer message) {
    messenger.received(message);
  }

  /** A connection on which both sides have proved the token. Does not block. */
  CompletableFuture<Connection> connection(ProcessAddress process) {
    return wire.connections().to(process, token);
  }

  boolean mayBeAlive(ProcessAddress process) {
    return wire.connections().mayBeAlive(process);
  }

  boolean isConnected(ProcessAddress process) {
    return wire.connections().isConnected(process);
  }

  /** How many gather requests this end has had from others. */
  public long servedRequests() {
    return server.served();
  }

  @Override
  public String description() {
    return "tcp, " + wire.protection();
  }

  @Override
  public ProcessAddress local() {
    return wire.local();
  }

  @Override
  public void export(Segment segment) {
    server.export(segment);
  }

  @Override
  public void withdraw(Segment segment) {
    server.withdraw(segment);
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return new GatherReader(this, timeout);
  }

  @Override
  public void close() {
    wire.leave(this);
  }

  @Override
  public String toString() {
    return "WireSession[store %s at %s]".formatted(token.id(), wire.local());
  }
}
