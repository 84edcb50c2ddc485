// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelId;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.ddstore.collective.MalformedMessageException;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.calls.WireCalls;
import org.ddstore.spark.wire.calls.WireMessenger;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.rows.DataTickets;
import org.ddstore.spark.wire.rows.GatherRequest;
import org.ddstore.types.ProcessAddress;

/**
 * The handler of requests and messages of other processes. The first byte is the kind: {@link
 * Handshake#HELLO}, {@link Handshake#PROOF}, {@link GatherRequest#GATHER}, {@link
 * DataTickets#TICKET}, {@link WireCalls#CALL}, {@link WireCalls#CONTROL} or, one way, {@link
 * WireMessenger#MESSAGE}. Malformed or forbidden input closes its connection; no exception is
 * thrown into Spark's code, which would log each of them.
 */
final class WireHandler extends RpcHandler {
  /** Reply to a message for a store that this process has left; followed by the store. */
  private static final byte STORE_GONE = 5;

  private final Wire wire;
  private final RefusalLog refusals;
  private final StreamManager noStreams = new OneForOneStreamManager();
  private final Map<ChannelId, Handshake> pending = new ConcurrentHashMap<>();

  WireHandler(Wire wire, RefusalLog refusals) {
    this.wire = wire;
    this.refusals = refusals;
  }

  @Override
  public void receive(TransportClient client, ByteBuffer request, RpcResponseCallback callback) {
    ByteBuffer reply;
    try {
      byte kind = request.get();
      reply =
          switch (kind) {
            case Handshake.HELLO -> hello(client, request);
            case Handshake.PROOF -> proof(client, request);
            case GatherRequest.GATHER -> gather(client, request);
            case DataTickets.TICKET -> ticket(client, request);
            case WireCalls.CALL, WireCalls.CONTROL -> call(client, kind, request);
            default -> throw new IllegalArgumentException("kind " + kind);
          };
    } catch (SecurityException e) {
      refuse(client, callback, e.getMessage(), "");
      return;
    } catch (IllegalArgumentException e) {
      refuse(client, callback, "an illegal request", e.getMessage());
      return;
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      refuse(client, callback, "a truncated request", "");
      return;
    } catch (RuntimeException | Error e) {
      reply = failed(client, e);
    }
    callback.onSuccess(reply);
  }

  /** Answers a request that fails unexpectedly; the connection stays open. */
  private ByteBuffer failed(TransportClient client, Throwable e) {
    refusals.reportFailure(client.getChannel().remoteAddress(), e);
    return wire.connections().over(client) == null
        ? status(Status.REFUSED)
        : Status.failed("request failed on the peer: " + e);
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the time of closing does not matter
  public void receive(TransportClient client, ByteBuffer message) {
    try {
      byte kind = message.get();
      if (kind != WireMessenger.MESSAGE && kind != STORE_GONE) {
        throw new IllegalArgumentException("kind " + kind);
      }
      Nonce store = Handshake.getStore(message);
      checkAuthorised(client, store);
      WireSession session = wire.session(store);
      if (session != null && kind == WireMessenger.MESSAGE) {
        session.received(message);
      } else if (session != null) {
        session.processLeft(wire.connections().over(client).peer());
      } else if (kind == WireMessenger.MESSAGE) {
        ByteBuffer gone = ByteBuffer.allocate(1 + Handshake.STORE_BYTES).put(STORE_GONE);
        Handshake.putStore(gone, store);
        Connection.send(client, gone.flip());
      }
    } catch (SecurityException e) {
      refuse(client, null, e.getMessage(), "");
    } catch (IllegalArgumentException | MalformedMessageException e) {
      refuse(client, null, "an illegal message", e.getMessage());
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      refuse(client, null, "a truncated message", "");
    } catch (RuntimeException | Error e) {
      refusals.reportFailure(client.getChannel().remoteAddress(), e);
      client.getChannel().close(); // so that both sides know of the lost message
    }
  }

  private ByteBuffer hello(TransportClient client, ByteBuffer request) {
    Handshake handshake = Handshake.receive(request);
    if (handshake.serverId() != wire.local().id()) {
      return status(Status.OTHER_PROCESS);
    }
    ProcessAddress peer = handshake.client();
    WireSession session = wire.session(handshake.store());
    if (session == null) {
      return status(Status.GONE);
    }
    if (wire.connections().over(client) == null && wire.connections().isDuplicate(peer)) {
      return status(Status.DUPLICATE);
    }
    pending.put(id(client), handshake);
    return handshake.answer(session.token());
  }

  private ByteBuffer proof(TransportClient client, ByteBuffer request) {
    Nonce store = Handshake.getStore(request);
    Handshake handshake = pending.remove(id(client));
    WireSession session = wire.session(store);
    if (handshake == null || !handshake.store().equals(store)) {
      throw new SecurityException("a proof without a greeting");
    }
    if (session == null) {
      return status(Status.GONE);
    }
    if (!handshake.isProvedBy(request, session.token())) {
      throw new SecurityException("a wrong proof of the store's token");
    }
    Connections connections = wire.connections();
    boolean fresh = connections.over(client) == null;
    Connection connection = connections.adopt(client, handshake.client());
    connection.authorise(store);
    if (!connections.accepted(connection) && fresh) {
      connections.forget(connection);
      return status(Status.DUPLICATE);
    }
    return status(Status.OK);
  }

  private ByteBuffer gather(TransportClient client, ByteBuffer request) {
    Nonce store = Handshake.getStore(request);
    checkAuthorised(client, store);
    WireSession session = wire.session(store);
    return session == null ? status(Status.GONE) : session.server().serve(request);
  }

  private ByteBuffer ticket(TransportClient client, ByteBuffer request) {
    Nonce store = Handshake.getStore(request);
    checkAuthorised(client, store);
    if (wire.session(store) == null) {
      return status(Status.GONE);
    }
    return wire.dataServer()
        .map(server -> DataTickets.answer(server.port(), server.issue(store)))
        .orElseGet(DataTickets::noPort);
  }

  private ByteBuffer call(TransportClient client, byte kind, ByteBuffer request) {
    Nonce store = Handshake.getStore(request);
    checkAuthorised(client, store);
    WireSession session = wire.session(store);
    return session == null ? status(Status.GONE) : session.calls(kind).answer(request);
  }

  /** Checks that the peer has proved the token; both sides of a connection can send requests. */
  private void checkAuthorised(TransportClient client, Nonce store) {
    Connection connection = wire.connections().over(client);
    if (connection == null || !connection.serves(store)) {
      throw new SecurityException("no proof of the store's token");
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the time of closing does not matter
  private void refuse(
      TransportClient client, RpcResponseCallback callback, String cause, String detail) {
    Channel channel = client.getChannel();
    refusals.report(channel.remoteAddress(), cause, detail);
    if (callback != null) {
      callback.onSuccess(status(Status.REFUSED));
    }
    channel.close();
  }

  private static ByteBuffer status(byte status) {
    return ByteBuffer.wrap(new byte[] {status});
  }

  private static ChannelId id(TransportClient client) {
    return client.getChannel().id();
  }

  @Override
  public StreamManager getStreamManager() {
    return noStreams;
  }

  @Override
  public void channelInactive(TransportClient client) {
    pending.remove(id(client));
    wire.connections().connectionLost(client);
  }

  @Override
  public void exceptionCaught(Throwable cause, TransportClient client) {
    // Logged by Spark, which closes the connection: channelInactive follows.
  }
}
