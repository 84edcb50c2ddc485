// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.Messenger;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.memory.Segment;
import org.ddstore.spark.backend.StoreNetwork;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.wire.calls.WireCalls;
import org.ddstore.spark.wire.calls.WireMessenger;
import org.ddstore.spark.wire.connection.ReadGrants;
import org.ddstore.spark.wire.connection.StoreConnections;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.rows.DataPath;
import org.ddstore.spark.wire.rows.DataServer;
import org.ddstore.spark.wire.rows.GatherReader;
import org.ddstore.spark.wire.rows.GatherServer;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.ProcessAddress;

/**
 * The network state shared by the ranks of one store in this JVM: the segments that they export and
 * the access to those of other processes. Closed by each user; the last close ends it.
 */
public final class WireSession implements StoreNetwork, AutoCloseable {
  private final Wire wire;
  private final StoreConnections connections;
  private final GatherServer server = new GatherServer();
  private final ReadGrants grants;
  private final WireMessenger messenger;
  private final WireCalls calls;
  private final WireCalls control;
  private int users = 1; // guarded by wire
  private ProcessDirectory directory; // guarded by this
  private LaneExchange lanes; // guarded by this
  private OneSidedTransport oneSided; // guarded by this

  WireSession(Wire wire, StoreToken token) {
    this.wire = wire;
    this.grants = new ReadGrants(token);
    this.connections = new StoreConnections(wire.connections(), token);
    this.messenger = new WireMessenger(connections);
    this.calls = new WireCalls(connections, WireCalls.CALL, messenger::isAlive);
    this.control = new WireCalls(connections, WireCalls.CONTROL, messenger::isAlive);
  }

  public StoreToken token() {
    return connections.token();
  }

  ReadGrants grants() {
    return grants;
  }

  /**
   * Lets readers from outside of Spark read the store in this process, apart from those of revoked
   * grants, whose channels are closed. Local, does not wait.
   *
   * @param revoked labels of all grants that were revoked so far
   * @return the port that they reach, or why there is none
   */
  public OutsidePort openToOutsiders(Set<String> revoked) {
    OutsidePort port = wire.outsidePort();
    if (port.port() != 0) {
      grants.open(revoked);
      wire.endGrants();
    }
    return port;
  }

  StoreConnections connections() {
    return connections;
  }

  GatherServer server() {
    return server;
  }

  /**
   * Returns the lanes of all ranks of this store in this JVM.
   *
   * @param root directory in which ranks of this host find each other's files
   * @param shortcut whether lanes use files; otherwise they use messages only
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

  @Override
  public synchronized OneSidedTransport oneSided(Function<PeerCalls, OneSidedTransport> open) {
    if (oneSided == null) {
      oneSided = open.apply(calls);
    }
    return oneSided;
  }

  /** Returns the transport for readers that are not ranks: one-sided if it exists, else tcp. */
  public synchronized Transport forReaders() {
    return oneSided == null ? this : oneSided;
  }

  /** Returns the calls about the store itself, answered by one service per process. */
  public PeerCalls control() {
    return control;
  }

  /** Sends a call about the store, see {@link WireCalls#send}. Does not block. */
  public CompletableFuture<ByteBuffer> sendControl(
      ProcessAddress process, ByteBuffer question, long deadlineNs) {
    return control.send(process, question, deadlineNs);
  }

  WireCalls calls(byte kind) {
    return kind == WireCalls.CALL ? calls : control;
  }

  /** Returns the messenger of the store's collectives, for a separate exchange. */
  Messenger messenger() {
    return messenger;
  }

  /** Closes all resources after the last user has left; throws the first failure at the end. */
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

  /** Handles the leave of all ranks of a process from this store. */
  void processLeft(ProcessAddress process) {
    messenger.processLeft(process);
  }

  /** Handles a connection that ended or could not be opened. */
  void connectionLost(ProcessAddress process) {
    messenger.connectionLost(process);
  }

  void addUser() {
    users++;
  }

  boolean removeUser() {
    return --users == 0;
  }

  /** Handles a message, positioned after the store. */
  void received(ByteBuffer message) {
    messenger.received(message);
  }

  /** Opens a path to the rows of a process. Does not block. */
  public CompletableFuture<DataPath> path(ProcessAddress process) {
    return wire.paths().open(process, token());
  }

  public Optional<DataServer> dataServer() {
    return wire.dataServer();
  }

  /** Returns the reads that were served to readers outside of the application, by label. */
  public List<OutsideStatistics> outsideReads() {
    return grants.statistics();
  }

  /** Returns the number of gather requests received from other processes. */
  public long servedRequests() {
    return server.served();
  }

  @Override
  public String description() {
    return "tcp, %s, %s".formatted(wire.protection(), wire.pathOfRows());
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
    return new GatherReader(wire.paths().of(connections), timeout, Wire.mayUseC());
  }

  @Override
  public CompletableFuture<?> probe(ProcessAddress process) {
    return wire.paths().of(connections).probe(process);
  }

  @Override
  public void close() {
    wire.leave(this);
  }

  @Override
  public String toString() {
    return "WireSession[store %s at %s]".formatted(connections.store(), wire.local());
  }
}
