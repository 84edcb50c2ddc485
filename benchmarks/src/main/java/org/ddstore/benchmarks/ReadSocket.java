// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server of plain blocking sockets in a process that holds rows, the limit of reads over a
 * network: one thread per connection receives a request of a fixed size and sends a reply of a
 * fixed size. Each reply is the next range of the rows in memory, in one piece. A request for zero
 * bytes returns the processor time of the process instead.
 */
final class ReadSocket implements AutoCloseable {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** In place of a size of requests: each begins with its size and that of its reply. */
  static final int SIZES_IN_REQUESTS = -1;

  private static final int MAX_REQUEST_BYTES = 16 << 20;

  private final ByteBuffer rows;
  private final ServerSocketChannel listener;
  private final List<SocketChannel> open = new CopyOnWriteArrayList<>();

  /**
   * @param host address at which other ranks reach this process
   * @param rows memory that holds the rows, larger than any reply
   */
  ReadSocket(InetAddress host, ByteBuffer rows) throws IOException {
    this.rows = rows;
    listener = ServerSocketChannel.open().bind(new InetSocketAddress(host, 0));
    start(this::accept);
  }

  int port() throws IOException {
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "bench-socket");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel channel = listener.accept();
        open.add(channel);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        start(() -> serve(channel));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(SocketChannel channel) {
    try (channel) {
      ByteBuffer sizes = ByteBuffer.allocate(2 * Integer.BYTES);
      receive(channel, sizes);
      int requestBytes = sizes.getInt();
      if (requestBytes == SIZES_IN_REQUESTS) {
        serveBySizes(channel);
        return;
      }
      ByteBuffer request = ByteBuffer.allocateDirect(Math.max(1, requestBytes));
      int replyBytes = sizes.getInt();
      ByteBuffer time = ByteBuffer.allocate(Long.BYTES);
      ByteBuffer reply = rows.duplicate();
      int next = 0;
      while (true) {
        receive(channel, request.clear());
        if (requestBytes == 0) {
          send(channel, time.clear().putLong(processorNanos()).flip());
          continue;
        }
        next = next + replyBytes <= rows.capacity() ? next : 0;
        send(channel, reply.limit(next + replyBytes).position(next));
        next += replyBytes;
      }
    } catch (IOException e) {
      // The reader has ended.
    }
  }

  private void serveBySizes(SocketChannel channel) throws IOException {
    ByteBuffer request = ByteBuffer.allocateDirect(MAX_REQUEST_BYTES);
    ByteBuffer reply = rows.duplicate();
    int next = 0;
    while (true) {
      request.clear();
      int bytes = Integer.MAX_VALUE;
      while (request.position() < bytes) {
        if (channel.read(request) < 0) {
          return;
        }
        bytes = request.position() < Integer.BYTES ? Integer.MAX_VALUE : request.getInt(0);
      }
      int replyBytes = request.getInt(Integer.BYTES);
      next = next + replyBytes <= rows.capacity() ? next : 0;
      send(channel, reply.limit(next + replyBytes).position(next));
      next += replyBytes;
    }
  }

  static void receive(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new IOException("the peer has closed the socket");
      }
    }
    buffer.flip();
  }

  static void send(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  static long processorNanos() {
    return SYSTEM.getProcessCpuTime();
  }

  /** Closes the port and all sockets. */
  @Override
  public void close() throws IOException {
    listener.close();
    for (SocketChannel channel : open) {
      channel.close();
    }
  }
}
