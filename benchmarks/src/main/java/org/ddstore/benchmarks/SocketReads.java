// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;

/**
 * The limit of a measurement of reads over a network: the same threads exchange the same bytes with
 * the same processes over plain blocking sockets, in turns with the reads. A batch is one request
 * to each process, then one reply of each.
 */
final class SocketReads implements AutoCloseable {
  /** Bytes of a request besides its rows: kind, store, sizes, and one segment. */
  private static final int REQUEST_BYTES = 53;

  private static final int ROW_BYTES = Long.BYTES + Integer.BYTES;

  /** Returns the size of a request for rows, as the store's. */
  static int requestBytes(int rows) {
    return REQUEST_BYTES + rows * ROW_BYTES;
  }

  private final List<Worker> workers = new ArrayList<>();
  private final List<SocketChannel> clocks = new ArrayList<>();
  private final ReadTimes times;

  /**
   * @param servers address of the {@link ReadSocket} of each serving process
   * @param threads number of batches in flight
   * @param inRound batches that a thread reads in one round
   * @param held batches into which a thread receives in turn
   */
  SocketReads(
      List<InetSocketAddress> servers, int rowBytes, int batch, int threads, int inRound, int held)
      throws IOException {
    this.times = new ReadTimes(batch);
    try {
      for (InetSocketAddress server : servers) {
        clocks.add(connect(server, 0, Long.BYTES));
      }
      for (int t = 0; t < threads; t++) {
        Worker worker = new Worker(inRound);
        workers.add(worker);
        for (int s = 0; s < servers.size(); s++) {
          int part = batch / servers.size() + (s < batch % servers.size() ? 1 : 0);
          if (part > 0) {
            worker.add(servers.get(s), requestBytes(part), part * rowBytes, held);
          }
        }
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  static SocketChannel connect(InetSocketAddress server, int request, int reply)
      throws IOException {
    SocketChannel channel = SocketChannel.open(server);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    ByteBuffer sizes = ByteBuffer.allocate(2 * Integer.BYTES).putInt(request).putInt(reply).flip();
    ReadSocket.send(channel, sizes);
    return channel;
  }

  /** Returns the processor time of this process and the serving processes, in nanoseconds. */
  long allProcessorNanos() throws IOException {
    long nanos = ReadSocket.processorNanos();
    ByteBuffer request = ByteBuffer.allocate(1);
    ByteBuffer time = ByteBuffer.allocate(Long.BYTES);
    for (SocketChannel clock : clocks) {
      ReadSocket.send(clock, request.clear());
      ReadSocket.receive(clock, time.clear());
      nanos += time.getLong();
    }
    return nanos;
  }

  void round(ExecutorService pool, boolean count)
      throws InterruptedException, ExecutionException, IOException {
    times.round(pool, workers, this::allProcessorNanos, count);
  }

  ReadTimes times() {
    return times;
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel clock : clocks) {
      clock.close();
    }
    for (Worker worker : workers) {
      worker.close();
    }
  }

  /** A thread with its sockets. */
  private static final class Worker extends ReadTimes.Worker implements AutoCloseable {
    private final List<SocketChannel> channels = new ArrayList<>();
    private final List<ByteBuffer> requests = new ArrayList<>();
    private final List<Integer> replyBytesOf = new ArrayList<>();
    private final List<ByteBuffer> replies = new ArrayList<>(); // of all held batches

    Worker(int inRound) {
      super(inRound);
    }

    void add(InetSocketAddress server, int requestBytes, int replyBytes, int held)
        throws IOException {
      channels.add(connect(server, requestBytes, replyBytes));
      requests.add(ByteBuffer.allocateDirect(requestBytes));
      replyBytesOf.add(replyBytes);
      replies.add(ByteBuffer.allocateDirect(Math.multiplyExact(replyBytes, held)));
    }

    @Override
    void read(int number) throws IOException {
      for (int s = 0; s < channels.size(); s++) {
        ReadSocket.send(channels.get(s), requests.get(s).clear());
      }
      for (int s = 0; s < channels.size(); s++) {
        ReadSocket.receive(channels.get(s), next(s));
      }
    }

    /** Returns the memory of the next batch, after that of the last one. */
    private ByteBuffer next(int server) {
      ByteBuffer all = replies.get(server);
      int bytes = replyBytesOf.get(server);
      int start = all.limit() + bytes <= all.capacity() ? all.limit() : 0;
      return all.limit(start + bytes).position(start);
    }

    @Override
    public void close() throws IOException {
      for (SocketChannel channel : channels) {
        channel.close();
      }
    }
  }
}
