// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;

/**
 * The limit of a measurement of reads over a network: the same threads exchange the same bytes with
 * the same processes over plain blocking sockets, in turns with the reads. A batch is one request
 * to each process, then one reply of each.
 */
public final class SocketReads implements AutoCloseable {
  /** Bytes of a request besides its rows: kind, store, sizes, and one segment. */
  private static final int REQUEST_BYTES = 53;

  private static final int ROW_BYTES = Long.BYTES + Integer.BYTES;

  private final List<Worker> workers = new ArrayList<>();
  private final List<SocketChannel> clocks = new ArrayList<>();
  private final int batch;
  private final int inRound;
  private final DescriptiveStatistics micros = new DescriptiveStatistics();
  private final DescriptiveStatistics callNanos = new DescriptiveStatistics();
  private long processorNanos;
  private long rows;

  /**
   * @param servers address of the {@link ReadSocket} of each serving process
   * @param threads number of batches in flight
   * @param inRound batches that a thread reads in one round
   * @param held batches into which a thread receives in turn
   */
  public SocketReads(
      List<InetSocketAddress> servers, int rowBytes, int batch, int threads, int inRound, int held)
      throws IOException {
    this.batch = batch;
    this.inRound = inRound;
    try {
      for (InetSocketAddress server : servers) {
        clocks.add(connect(server, 0, Long.BYTES));
      }
      for (int t = 0; t < threads; t++) {
        Worker worker = new Worker();
        workers.add(worker);
        for (int s = 0; s < servers.size(); s++) {
          int part = batch / servers.size() + (s < batch % servers.size() ? 1 : 0);
          if (part > 0) {
            worker.add(servers.get(s), REQUEST_BYTES + part * ROW_BYTES, part * rowBytes, held);
          }
        }
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  private static SocketChannel connect(InetSocketAddress server, int request, int reply)
      throws IOException {
    SocketChannel channel = SocketChannel.open(server);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    ByteBuffer sizes = ByteBuffer.allocate(2 * Integer.BYTES).putInt(request).putInt(reply).flip();
    ReadSocket.send(channel, sizes);
    return channel;
  }

  /** Returns the processor time of this process and the serving processes, in nanoseconds. */
  public long allProcessorNanos() throws IOException {
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

  /**
   * Runs one round.
   *
   * @param count whether its times are recorded
   */
  public void round(ExecutorService pool, boolean count)
      throws InterruptedException, ExecutionException, IOException {
    long before = allProcessorNanos();
    for (Future<Void> done : pool.invokeAll(workers)) {
      done.get();
    }
    long after = allProcessorNanos();
    if (!count) {
      return;
    }
    long read = (long) workers.size() * inRound * batch;
    processorNanos += after - before;
    rows += read;
    long start = workers.stream().mapToLong(w -> w.startNanos).min().orElseThrow();
    long end = workers.stream().mapToLong(w -> w.endNanos).max().orElseThrow();
    micros.addValue((end - start) / 1e3 / read);
    for (Worker worker : workers) {
      for (long nanos : worker.nanos) {
        callNanos.addValue((double) nanos);
      }
    }
  }

  public double microsPerRow() {
    return micros.getPercentile(50);
  }

  /**
   * Returns the 99th percentile of the duration of a batch divided by its rows, in microseconds.
   */
  public double p99MicrosPerRow() {
    return callNanos.getPercentile(99) / 1e3 / batch;
  }

  public double processorMicrosPerRow() {
    return processorNanos / 1e3 / rows;
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
  private final class Worker implements Callable<Void>, AutoCloseable {
    private final List<SocketChannel> channels = new ArrayList<>();
    private final List<ByteBuffer> requests = new ArrayList<>();
    private final List<Integer> replyBytesOf = new ArrayList<>();
    private final List<ByteBuffer> replies = new ArrayList<>(); // of all held batches
    private final long[] nanos = new long[inRound];
    private long startNanos;
    private long endNanos;

    void add(InetSocketAddress server, int requestBytes, int replyBytes, int held)
        throws IOException {
      channels.add(connect(server, requestBytes, replyBytes));
      requests.add(ByteBuffer.allocateDirect(requestBytes));
      replyBytesOf.add(replyBytes);
      replies.add(ByteBuffer.allocateDirect(Math.multiplyExact(replyBytes, held)));
    }

    @Override
    public Void call() throws IOException {
      startNanos = System.nanoTime();
      for (int b = 0; b < inRound; b++) {
        long start = System.nanoTime();
        for (int s = 0; s < channels.size(); s++) {
          ReadSocket.send(channels.get(s), requests.get(s).clear());
        }
        for (int s = 0; s < channels.size(); s++) {
          ReadSocket.receive(channels.get(s), next(s));
        }
        nanos[b] = System.nanoTime() - start;
      }
      endNanos = System.nanoTime();
      return null;
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
