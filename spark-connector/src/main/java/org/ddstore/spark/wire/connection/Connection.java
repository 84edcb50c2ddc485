// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import io.netty.channel.ChannelId;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.protocol.OneWayMessage;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** A connection to another process and the stores whose token both sides have proved on it. */
public final class Connection {
  private static final int MAX_DOUBLINGS = 6;

  private final TransportClient client;
  private final ProcessAddress peer;

  /** Stores of which the peer has proved the token; true once it also has this side's proof. */
  private final ConcurrentHashMap<Nonce, Boolean> stores = new ConcurrentHashMap<>();

  private int missedDataPorts; // guarded by this
  private long noDataPortUntilNs; // guarded by this

  Connection(TransportClient client, ProcessAddress peer) {
    this.client = client;
    this.peer = peer;
  }

  public ProcessAddress peer() {
    return peer;
  }

  public boolean isActive() {
    return client.isActive();
  }

  /** Returns whether requests for a store may be sent to the peer. */
  public boolean isAuthorised(Nonce store) {
    return stores.getOrDefault(store, false);
  }

  public boolean serves(Nonce store) {
    return stores.containsKey(store);
  }

  /** Returns whether the peer may offer a data port that this process can reach. */
  public synchronized boolean mayHaveDataPort() {
    return missedDataPorts == 0 || noDataPortUntilNs - System.nanoTime() < 0;
  }

  /**
   * Remembers that the data port of the peer cannot be reached: for a minute the first time, twice
   * as long each further time, at most about an hour.
   */
  public synchronized void noDataPort() {
    long minutes = 1L << Math.min(missedDataPorts, MAX_DOUBLINGS);
    missedDataPorts++;
    noDataPortUntilNs = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
  }

  ChannelId channel() {
    return client.getChannel().id();
  }

  /** Serves the peer, which has proved the token of a store but does not have the proof yet. */
  void serve(Nonce store) {
    stores.putIfAbsent(store, false);
    FrameGuard.trust(client.getChannel());
  }

  /** Serves the peer and sends it requests: both sides have proved the token of a store. */
  public void authorise(Nonce store) {
    stores.put(store, true);
    FrameGuard.trust(client.getChannel());
  }

  /** Undoes {@link #serve} if the peer did not accept the proof. */
  void forbid(Nonce store) {
    stores.remove(store, false);
  }

  public void request(ByteBuffer request, RpcResponseCallback callback) {
    client.sendRpc(request, callback);
  }

  ByteBuffer requestAndWait(ByteBuffer request, long timeoutMs) {
    return client.sendRpcSync(request, timeoutMs);
  }

  public void send(ByteBuffer message) {
    send(client, message);
  }

  /** Sends a message without a reply. {@link TransportClient#send} has another result in 4.3. */
  @SuppressWarnings("FutureReturnValueIgnored") // a failure closes the channel
  public static void send(TransportClient client, ByteBuffer message) {
    client.getChannel().writeAndFlush(new OneWayMessage(new NioManagedBuffer(message)));
  }

  public void close() {
    client.close();
  }

  @Override
  public String toString() {
    return "Connection[" + peer + "]";
  }
}
