// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.RefusalLog;
import org.ddstore.spark.wire.connection.UnauthenticatedConnections;

/**
 * A thread that serves a part of the data channels of this JVM. It answers requests itself, with
 * buffers that all of its channels share.
 */
final class DataLoop implements AutoCloseable {
  /**
   * Memory for records that are packed before they are sent: 128 KiB of records, and 8 KiB for
   * status, lengths and versions. Measured: see docs/design.
   */
  static final int PACKED_BYTES = (128 << 10) + (8 << 10);

  private static final long JOIN_MS = 10_000;

  /**
   * Maximum number of channels accepted at once, so that unknown peers cannot delay other channels.
   */
  private static final int MAX_ACCEPTS = 64;

  /** Time between two checks of the grants of open channels. */
  private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

  private static final long OUT_OF_FILES_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Service service;
  private final Selector selector;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final ByteBuffer input = ByteBuffer.allocateDirect(ServedChannel.MAX_FRAME_BYTES);
  private final ByteBuffer packed = ByteBuffer.allocateDirect(PACKED_BYTES);
  private final Deque<GatherReply> freeReplies = new ArrayDeque<>();
  private final Set<ServedChannel> newcomers = new LinkedHashSet<>(); // by age
  private final Set<ServedChannel> outsiders = new LinkedHashSet<>(); // with read keys, by age
  private long checkNs; // time of the last check of their grants
  private List<DataLoop> loops = List.of();
  private int pendingReplies;
  private int accepted;
  private volatile boolean closed;
  private final PollingWait channelWait = new PollingWait(this::ready, this::stops);
  private final ChannelsInC inC; // null: Java answers all requests

  /**
   * State and limits that all threads share.
   *
   * @param inC whether C answers the requests that it can, if the library is loaded
   * @param life time within which a new channel must be admitted
   * @param maxNew maximum number of channels of a thread that are not admitted yet, and of those of
   *     outsiders
   */
  record Service(
      ServedStores stores,
      boolean inC,
      DataTickets tickets,
      RefusalLog refusals,
      Duration life,
      int maxNew) {}

  DataLoop(int number, Service service) throws IOException {
    this.service = service;
    this.selector = Selector.open();
    try {
      this.inC =
          service.inC()
              ? ChannelsInC.open(selector, this::ready, this::stops, input, packed)
              : null;
    } catch (IOException | RuntimeException | Error e) {
      selector.close();
      throw e;
    }
    this.thread = new Thread(this::run, "ddstore-data-" + number);
    thread.setDaemon(true);
  }

  /** Accepts channels and distributes them over threads. Before {@link #start}. */
  void listen(ServerSocketChannel listener, List<DataLoop> over) throws IOException {
    loops = over;
    listener.register(selector, SelectionKey.OP_ACCEPT);
  }

  void start() {
    thread.start();
  }

  Service service() {
    return service;
  }

  /** Returns the server in C of the channels of this thread; null if Java answers all requests. */
  ChannelsInC inC() {
    return inC;
  }

  /** Lets the selector know soon what was registered, cancelled or changed. */
  void selectorChanged() {
    if (inC != null) {
      inC.selectorChanged();
    }
  }

  ByteBuffer input() {
    return input;
  }

  ByteBuffer packed() {
    return packed;
  }

  GatherReply takeReply() {
    GatherReply free = freeReplies.poll();
    GatherReply taken = free == null ? new GatherReply() : free;
    pendingReplies++;
    return taken;
  }

  void giveBack(GatherReply reply) {
    pendingReplies--;
    freeReplies.push(reply);
  }

  private void run() {
    try {
      while (!closed) {
        guard(
            () -> {
              await(expire(), pendingReplies == 0);
              runTasks();
            });
      }
    } finally {
      closeAll();
    }
  }

  private boolean stops() {
    return closed || !tasks.isEmpty();
  }

  private void await(long timeoutMs, boolean mayPoll) throws IOException {
    if (inC == null) {
      channelWait.select(selector, timeoutMs, mayPoll);
    } else {
      channelWait.select(inC, timeoutMs, mayPoll);
    }
  }

  /** Runs the tasks that exist now; those that they add follow the next channels that are ready. */
  private void runTasks() {
    for (int remaining = tasks.size(); remaining > 0; remaining--) {
      tasks.remove().run();
    }
  }

  /** Reports failures of one channel, such as out of memory: the others are served on. */
  private void guard(Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException | Error e) {
      service.refusals().reportFailure(null, e);
    }
  }

  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }

  private void ready(SelectionKey key) {
    if (key.attachment() == null) {
      accept((ServerSocketChannel) key.channel());
    } else {
      ((ServedChannel) key.attachment()).ready();
    }
  }

  private void accept(ServerSocketChannel listener) {
    try {
      for (int i = 0; i < MAX_ACCEPTS; i++) {
        SocketChannel channel = listener.accept();
        if (channel == null) {
          return;
        }
        DataLoop loop = loops.get(accepted);
        accepted = (accepted + 1) % loops.size();
        loop.execute(() -> loop.adopt(channel));
      }
    } catch (IOException e) { // such as too many open files: the peer tries another path
      service.refusals().reportFailure(null, e);
      LockSupport.parkNanos(OUT_OF_FILES_NS); // the listener stays ready
    }
  }

  private void adopt(SocketChannel channel) {
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true); // finds hosts that vanished
      ServedChannel served = new ServedChannel(this, channel);
      served.register(selector);
      newcomers.add(served);
      if (newcomers.size() > service.maxNew()) {
        UnauthenticatedConnections.oldestOfTheLargestHost(newcomers, ServedChannel::host)
            .refuse("too many data channels before the handshake", "");
      }
    } catch (IOException e) { // the peer has ended
      closeQuietly(channel);
    } catch (RuntimeException | Error e) {
      closeQuietly(channel);
      throw e;
    }
  }

  private static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // The peer has ended, which is why the channel is closed.
    }
  }

  /**
   * Closes channels that have to end by now; returns the milliseconds to the next time, 0: none.
   */
  private long expire() {
    long nowNs = System.nanoTime();
    long lifeNs = service.life().toNanos();
    long nextNs = Long.MAX_VALUE;
    while (!newcomers.isEmpty()) {
      ServedChannel oldest = newcomers.iterator().next();
      long leftNs = oldest.openedNs() + lifeNs - nowNs;
      if (leftNs > 0) {
        nextNs = leftNs;
        break;
      }
      oldest.refuse("no handshake on a data channel in time", "");
    }
    if (!outsiders.isEmpty()) {
      if (nowNs - checkNs >= CHECK_NS) {
        endGrants();
      }
      nextNs = Math.min(nextNs, checkNs + CHECK_NS - nowNs);
    }
    return nextNs == Long.MAX_VALUE ? 0 : Math.max(0, TimeUnit.NANOSECONDS.toMillis(nextNs)) + 1;
  }

  /** Closes the channels whose grants have ended. */
  void endGrants() {
    checkNs = System.nanoTime();
    long nowMs = System.currentTimeMillis();
    List.copyOf(outsiders).forEach(channel -> channel.closeUnlessValid(nowMs));
  }

  /**
   * Notes that the peer of a channel may read.
   *
   * @param isOutsider whether a grant permits it, which can end
   */
  void admitted(ServedChannel channel, boolean isOutsider) {
    newcomers.remove(channel);
    if (isOutsider) {
      outsiders.add(channel);
      if (outsiders.size() > service.maxNew()) {
        UnauthenticatedConnections.oldestOfTheLargestHost(outsiders, ServedChannel::host)
            .refuse("too many data channels of outsiders", "");
      }
    }
  }

  void forget(ServedChannel channel) {
    newcomers.remove(channel);
    outsiders.remove(channel);
  }

  /** Closes the channels of a store. Does not wait. */
  void closeChannels(Nonce store) {
    execute(
        () ->
            selector.keys().stream()
                .map(SelectionKey::attachment)
                .filter(served -> served instanceof ServedChannel s && store.equals(s.store()))
                .toList()
                .forEach(served -> ((ServedChannel) served).close()));
  }

  void execute(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  /** Ends the thread, closes its channels and waits. */
  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    if (thread.getState() == Thread.State.NEW) {
      closeAll(); // otherwise only the thread itself touches its channels
    } else {
      join();
    }
  }

  /** Waits for the end of the thread, also if the calling thread is interrupted. */
  private void join() {
    long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MS);
    boolean interrupted = false;
    long leftMs = JOIN_MS;
    while (leftMs > 0 && thread.isAlive()) {
      try {
        thread.join(leftMs);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      leftMs = TimeUnit.NANOSECONDS.toMillis(untilNs - System.nanoTime());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeAll() {
    guard(this::runTasks); // channels that were accepted but not adopted
    for (SelectionKey key : List.copyOf(selector.keys())) {
      if (key.attachment() instanceof ServedChannel served) {
        guard(served::close);
      }
    }
    if (inC != null) {
      guard(inC::close);
    }
    guard(selector::close);
  }
}
