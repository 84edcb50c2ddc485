// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import io.netty.channel.ChannelId;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** A connection to another process and the stores whose token both sides have proved on it. */
final class Connection {
  private final TransportClient client;
  private final ProcessAddress peer;
  private final Set<Nonce> stores = ConcurrentHashMap.newKeySet();

  Connection(TransportClient client, ProcessAddress peer) {
    this.client = client;
    this.peer = peer;
  }

  ProcessAddress peer() {
    return peer;
  }

  boolean isActive() {
    return client.isActive();
  }

  boolean isAuthorised(Nonce store) {
    return stores.contains(store);
  }

  ChannelId channel() {
    return client.getChannel().id();
  }

  void authorise(Nonce store) {
    stores.add(store);
    FrameGuard.trust(client.getChannel());
  }

  void forbid(Nonce store) {
    stores.remove(store);
  }

  void request(ByteBuffer request, RpcResponseCallback callback) {
    client.sendRpc(request, callback);
  }

  /** Sends a request and waits for the reply. Blocks. */
  ByteBuffer requestAndWait(ByteBuffer request, long timeoutMs) {
    return client.sendRpcSync(request, timeoutMs);
  }

  void send(ByteBuffer message) {
    client.send(message);
  }

  void close() {
    client.close();
  }

  @Override
  public String toString() {
    return "Connection[" + peer + "]";
  }
}
