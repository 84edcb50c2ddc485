// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.Messenger;
import org.ddstore.types.ProcessAddress;

/**
 * The collectives of one rank among many that do not exist: all others answer each of its messages
 * with the same one, as if they were in other processes. The rank runs the code of a real one.
 * Costs of the network are not included.
 */
final class LaneReplay implements Messenger, AutoCloseable {
  static final String CONNECT = "rank: connection of lanes without network";
  static final String ROUND = "rank: collective round without network";
  static final String ROUND_BYTES = "rank: received in a collective round";

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int WARM_UP = 5;
  private static final int SAMPLES = 5;
  private static final byte REQUEST = 1; // kinds of messages
  private static final byte UPDATE = 2;
  private static final int NONCE_AT = 1;
  private static final int NONCE_IN_ADDRESS = 1 + 2 * Integer.BYTES;
  private static final ByteBuffer END = ByteBuffer.allocate(0);

  private final SimulatedCluster cluster;
  private final Thread receiving = new Thread(this::replay, "ddstore-bench-replay");
  private final BlockingQueue<ByteBuffer> updates = new LinkedBlockingQueue<>();
  private final List<byte[]> addresses = new ArrayList<>();
  private volatile Receiver receiver;
  private volatile boolean recording;
  private volatile long lastBytes;

  private LaneReplay(SimulatedCluster cluster) {
    this.cluster = cluster;
  }

  /** Measures the lanes of a rank of a cluster of at least two processes. */
  static void measure(SimulatedCluster cluster, Parts parts) throws Exception {
    try (LaneReplay replay = new LaneReplay(cluster);
        LaneExchange exchange = LaneExchange.overMessages(replay)) {
      replay.run(exchange, parts);
    }
  }

  private void run(LaneExchange exchange, Parts parts) throws Exception {
    try (GroupEndpoint endpoint = GroupEndpoint.create(exchange, 0, cluster.ranks())) {
      addresses.add(endpoint.address());
      LaneExchange[] others = new LaneExchange[cluster.processes()];
      for (int rank = 1; rank < cluster.ranks(); rank++) {
        int process = rank / cluster.ranksPerProcess();
        if (others[process] == null) {
          others[process] =
              LaneExchange.overMessages(SimulatedCluster.silent(cluster.process(process)));
        }
        addresses.add(GroupEndpoint.exampleAddress(others[process], rank, cluster.ranks()));
      }
      for (int process = 1; process < cluster.processes(); process++) {
        receiver.received(request(process));
      }
      receiving.start();
      recording = true;
      long start = cpuNanos();
      try (Communicator ranks = endpoint.connect(addresses, PATIENCE)) {
        parts.add(CONNECT, Parts.SECONDS, (cpuNanos() - start) / 1e9);
        double[] seconds = new double[SAMPLES];
        for (int i = -WARM_UP; i < SAMPLES; i++) {
          long before = cpuNanos();
          ranks.barrier();
          seconds[Math.max(0, i)] = (cpuNanos() - before) / 1e9;
        }
        recording = false;
        parts.add(ROUND, Parts.SECONDS, seconds);
        parts.add(ROUND_BYTES, Parts.BYTES, (double) lastBytes * (cluster.ranks() - 1));
      }
    }
  }

  /** Returns the processor time of the rank and of the thread that receives for it. */
  private long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
        + Math.max(0, ManagementFactory.getThreadMXBean().getThreadCpuTime(receiving.getId()));
  }

  /** Returns the request of a process for the lane of the rank. */
  private ByteBuffer request(int process) {
    byte[] asker = cluster.process(process).toBytes();
    ByteBuffer request =
        ByteBuffer.allocate(NONCE_AT + 3 * Long.BYTES + 1 + Short.BYTES + asker.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    request.put(REQUEST);
    putNonce(request, 0);
    request.position(NONCE_AT + 2 * Long.BYTES);
    return request.putLong(0).put((byte) 1).putShort((short) asker.length).put(asker).flip();
  }

  private void putNonce(ByteBuffer message, int rank) {
    ByteBuffer address = ByteBuffer.wrap(addresses.get(rank)); // big-endian
    message.putLong(NONCE_AT, address.getLong(NONCE_IN_ADDRESS));
    message.putLong(NONCE_AT + Long.BYTES, address.getLong(NONCE_IN_ADDRESS + Long.BYTES));
  }

  /** Receives each update of the rank from all others. */
  private void replay() {
    try {
      for (ByteBuffer update = updates.take(); update.hasRemaining(); update = updates.take()) {
        for (int rank = 1; rank < cluster.ranks(); rank++) {
          putNonce(update, rank);
          receiver.received(update.duplicate());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public ProcessAddress local() {
    return cluster.process(0);
  }

  @Override
  public void setReceiver(Receiver receiver) {
    this.receiver = receiver;
  }

  @Override
  public void send(ProcessAddress to, ByteBuffer message) {
    if (recording && message.get(0) == UPDATE && to.equals(cluster.process(1))) {
      ByteBuffer copy = ByteBuffer.allocate(message.remaining()).order(ByteOrder.LITTLE_ENDIAN);
      lastBytes = copy.capacity();
      updates.add(copy.put(message.duplicate()).flip());
    }
  }

  @Override
  public boolean isAlive(ProcessAddress process) {
    return true;
  }

  @Override
  public void close() throws IOException {
    updates.add(END);
    try {
      receiving.join(PATIENCE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
