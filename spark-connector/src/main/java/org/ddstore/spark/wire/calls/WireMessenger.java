// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.calls;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.ddstore.collective.Messenger;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.StoreConnections;
import org.ddstore.types.ProcessAddress;

/** The messenger of a store's collectives, over the same connections as its reads. */
public final class WireMessenger implements Messenger {
  /** Kind of a message; followed by the store and the content. */
  public static final byte MESSAGE = 4;

  private static final int HEADER_BYTES = 1 + Handshake.STORE_BYTES;

  private final StoreConnections connections;
  private final Map<ProcessAddress, Outbox> outboxes = new ConcurrentHashMap<>();
  private final Set<ProcessAddress> gone = ConcurrentHashMap.newKeySet();
  private volatile Receiver receiver;

  public WireMessenger(StoreConnections connections) {
    this.connections = connections;
  }

  @Override
  public ProcessAddress local() {
    return connections.local();
  }

  @Override
  public void setReceiver(Receiver receiver) {
    this.receiver = receiver;
  }

  @Override
  public void send(ProcessAddress to, ByteBuffer message) {
    ByteBuffer framed = ByteBuffer.allocate(HEADER_BYTES + message.remaining());
    framed.put(MESSAGE);
    Handshake.putStore(framed, connections.store());
    framed.put(message.duplicate()).flip();
    try {
      outboxes.computeIfAbsent(to, Outbox::new).send(framed);
    } catch (RejectedExecutionException e) {
      // The network endpoint is closed: no receiver is left to report to.
    }
  }

  /** Returns whether a process is alive; opens a connection if none exists, as only that tells. */
  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the next call uses its outcome
  public boolean isAlive(ProcessAddress process) {
    boolean mayBe = connections.mayBeAlive(process) && !gone.contains(process);
    if (mayBe && !connections.isConnected(process)) {
      connections
          .to(process)
          .whenComplete(
              (found, e) -> {
                if (Connections.cause(e) instanceof Connections.StoreGoneException) {
                  processLeft(process);
                }
              });
    }
    return mayBe;
  }

  /** Marks a process whose ranks have left this store; the process itself can be alive. */
  public void processLeft(ProcessAddress process) {
    gone.add(process);
  }

  public void received(ByteBuffer message) {
    Receiver known = receiver;
    if (known != null) {
      known.received(message);
    }
  }

  public void connectionLost(ProcessAddress process) {
    Receiver known = receiver;
    if (known != null) {
      known.disconnected(process);
    }
  }

  /** The queue of messages to one process, in order. */
  private final class Outbox {
    private final ProcessAddress process;
    private final Queue<ByteBuffer> waiting = new ArrayDeque<>();
    private Connection connection;
    private boolean connecting;

    Outbox(ProcessAddress process) {
      this.process = process;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // both outcomes are handled
    synchronized void send(ByteBuffer framed) {
      if (connection != null && connection.isActive()) {
        connection.send(framed);
        return;
      }
      waiting.add(framed);
      if (!connecting) {
        connecting = true;
        try {
          connections.to(process).whenComplete(this::connected);
        } catch (RuntimeException
            | Error e) { // closed, or out of threads: the next message retries
          connecting = false;
          waiting.clear();
          throw e;
        }
      }
    }

    private void connected(Connection found, Throwable e) {
      Throwable trouble = e == null ? sendWaiting(found) : e;
      if (trouble != null) {
        forgetWaiting();
        if (Connections.cause(trouble) instanceof Connections.StoreGoneException) {
          processLeft(process);
        }
        connectionLost(process);
      }
    }

    /** Sends the queue; returns the reason for lost messages, or null. */
    private synchronized Throwable sendWaiting(Connection found) {
      connecting = false;
      connection = found;
      try {
        waiting.forEach(found::send);
        return null;
      } catch (RuntimeException | Error trouble) { // not visible to the caller otherwise
        return trouble;
      } finally {
        waiting.clear();
      }
    }

    private synchronized void forgetWaiting() {
      connecting = false;
      waiting.clear();
    }
  }
}
