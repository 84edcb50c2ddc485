// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.types.ProcessAddress;

/**
 * Messages over plain sockets of the loopback interface, which can be cut. A connection carries
 * messages one way: {@code int64 id of the receiver, int32 bytes, address of the sender}, then
 * {@code int32 bytes, message} each. One thread later writes the bytes that a socket does not take
 * at once.
 */
public final class SocketMessenger implements Messenger, AutoCloseable {
  private static final int MAX_MESSAGE_BYTES = 300_000;
  static final String THREADS = "socket-messenger-";
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

  private final ServerSocketChannel server;
  private final Selector writable;
  private final ProcessAddress local;
  private final List<Thread> threads = new ArrayList<>(); // guarded by itself
  private final Map<ProcessAddress, Outgoing> outgoing = new ConcurrentHashMap<>();
  private final Set<SocketChannel> incoming = ConcurrentHashMap.newKeySet();
  private final Set<ProcessAddress> ended = ConcurrentHashMap.newKeySet();
  private final Queue<MalformedMessageException> refused = new ConcurrentLinkedQueue<>();
  private final AtomicLong sentBytes = new AtomicLong();
  private volatile Receiver receiver;
  private volatile boolean down;
  private volatile boolean closed;

  private SocketMessenger() throws IOException {
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    writable = Selector.open();
    InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
    local =
        new ProcessAddress(
            address.getAddress().getHostAddress(),
            address.getPort(),
            ThreadLocalRandom.current().nextLong());
  }

  public static SocketMessenger open() throws IOException {
    SocketMessenger messenger = new SocketMessenger();
    messenger.start("accept", messenger::accept);
    messenger.start("write", messenger::writeLater);
    return messenger;
  }

  @Override
  public ProcessAddress local() {
    return local;
  }

  @Override
  public void setReceiver(Receiver newReceiver) {
    receiver = newReceiver;
  }

  @Override
  public void send(ProcessAddress to, ByteBuffer message) {
    if (!closed) {
      sentBytes.addAndGet(message.remaining());
      outgoing.computeIfAbsent(to, Outgoing::new).send(message);
    }
  }

  @Override
  public boolean isAlive(ProcessAddress process) {
    return !ended.contains(process);
  }

  long sentBytes() {
    return sentBytes.get();
  }

  Queue<MalformedMessageException> refused() {
    return refused;
  }

  void cut() {
    outgoing.values().forEach(Outgoing::lose);
    incoming.forEach(SocketMessenger::closeQuietly);
  }

  void setDown(boolean isDown) {
    down = isDown;
    if (isDown) {
      cut();
    }
  }

  private void start(String job, Runnable work) {
    Thread thread = new Thread(work, THREADS + job + "-" + local.port());
    thread.setDaemon(true);
    synchronized (threads) {
      threads.add(thread);
    }
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel channel = server.accept();
        incoming.add(channel);
        start("read", () -> read(channel));
      }
    } catch (IOException e) {
      if (!closed) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void read(SocketChannel channel) {
    ProcessAddress from = null;
    try (channel) {
      ByteBuffer in = ByteBuffer.allocateDirect(2 * MAX_MESSAGE_BYTES).limit(0);
      fill(in, channel, Long.BYTES);
      if (down || in.getLong() != local.id()) {
        return;
      }
      byte[] address = new byte[nextLength(in, channel)];
      in.get(address);
      from = ProcessAddress.parse(address);
      while (true) {
        int length = nextLength(in, channel);
        if (down) { // a read that has begun can still get bytes after its channel is closed
          return;
        }
        receiver.received(in.slice(in.position(), length));
        in.position(in.position() + length);
      }
    } catch (MalformedMessageException e) {
      refused.add(e);
    } catch (IOException e) {
      // Closed by the other process, or cut: what the receiver is told below.
    } finally {
      incoming.remove(channel);
      if (from != null && !closed) {
        receiver.disconnected(from);
      }
    }
  }

  private static int nextLength(ByteBuffer in, SocketChannel channel) throws IOException {
    fill(in, channel, Integer.BYTES);
    int length = in.getInt();
    if (length < 0 || length > MAX_MESSAGE_BYTES) {
      throw new MalformedMessageException("a message of " + length + " bytes");
    }
    fill(in, channel, length);
    return length;
  }

  private static void fill(ByteBuffer in, SocketChannel channel, int bytes) throws IOException {
    if (in.remaining() >= bytes) {
      return;
    }
    in.compact();
    while (in.position() < bytes) {
      if (channel.read(in) < 0) {
        throw new IOException("end of stream");
      }
    }
    in.flip();
  }

  private void writeLater() {
    try {
      while (!closed) {
        writable.select();
        for (SelectionKey key : writable.selectedKeys()) {
          ((Outgoing) key.attachment()).flush();
        }
        writable.selectedKeys().clear();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      for (Outgoing connection : outgoing.values()) {
        connection.drain();
        connection.lose();
      }
      server.close();
      writable.wakeup();
      incoming.forEach(SocketMessenger::closeQuietly);
      while (true) {
        List<Thread> running;
        synchronized (threads) {
          running = List.copyOf(threads);
          threads.clear();
        }
        if (running.isEmpty()) {
          break;
        }
        for (Thread thread : running) {
          thread.join();
        }
        incoming.forEach(SocketMessenger::closeQuietly);
      }
      writable.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Outgoing {
    private final ProcessAddress to;
    private final Deque<ByteBuffer> backlog = new ArrayDeque<>();
    private SocketChannel channel;

    Outgoing(ProcessAddress to) {
      this.to = to;
    }

    void send(ByteBuffer message) {
      try {
        write(message);
      } catch (IOException e) {
        lose();
        receiver.disconnected(to);
      }
    }

    private synchronized void write(ByteBuffer message) throws IOException {
      if (channel == null) {
        connect();
      }
      ByteBuffer[] frame = {
        ByteBuffer.allocate(Integer.BYTES).putInt(message.remaining()).flip(), message
      };
      if (backlog.isEmpty()) {
        channel.write(frame);
      }
      boolean wasEmpty = backlog.isEmpty();
      for (ByteBuffer rest : frame) {
        if (rest.hasRemaining()) {
          backlog.add(ByteBuffer.allocate(rest.remaining()).put(rest).flip());
        }
      }
      if (wasEmpty && !backlog.isEmpty()) {
        channel.register(writable, SelectionKey.OP_WRITE, this);
        writable.wakeup();
      }
    }

    private void connect() throws IOException {
      if (down) {
        throw new IOException("down");
      }
      try {
        channel = SocketChannel.open(new InetSocketAddress(to.host(), to.port()));
      } catch (ConnectException e) {
        ended.add(to);
        throw e;
      }
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      byte[] address = local.toBytes();
      channel.write(
          ByteBuffer.allocate(Long.BYTES + Integer.BYTES + address.length)
              .putLong(to.id())
              .putInt(address.length)
              .put(address)
              .flip());
      channel.configureBlocking(false);
    }

    synchronized void flush() {
      try {
        while (!backlog.isEmpty() && channel != null) {
          channel.write(backlog.peek());
          if (backlog.peek().hasRemaining()) {
            return;
          }
          backlog.remove();
        }
        if (channel != null) {
          channel.register(writable, 0, this);
        }
      } catch (IOException e) {
        lose();
      }
    }

    synchronized void drain() {
      long startNs = System.nanoTime();
      while (!backlog.isEmpty() && channel != null && System.nanoTime() - startNs < PATIENCE_NS) {
        flush();
        Thread.onSpinWait();
      }
    }

    synchronized void lose() {
      backlog.clear();
      if (channel != null) {
        closeQuietly(channel);
        channel = null;
      }
    }
  }
}
