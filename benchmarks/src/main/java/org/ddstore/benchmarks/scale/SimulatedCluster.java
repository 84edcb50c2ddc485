// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.Messenger;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.job.StartMessage;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * Names and addresses of a cluster whose processes do not exist. Rows are {@value #ROW_LONGS}
 * int64, of which element i of row r is r + i.
 *
 * @param ranksPerProcess number of ranks of an executor, a divisor of {@code ranks}; executors are
 *     on hosts of their own
 * @param rows number of rows of the store
 */
record SimulatedCluster(int ranks, int ranksPerProcess, long rows) {
  static final String FIELD = "row";
  static final int ROW_LONGS = 32;
  private static final int PORT = 41_234;

  /** Offer of the transport tcp: its name and no bytes. */
  private static final byte[] OFFER = {3, 't', 'c', 'p', 0};

  static Schema schema() {
    return Schema.of(Field.fixed(FIELD, DType.INT64, ROW_LONGS));
  }

  /** Returns the number of values of rows that differ from those of the cluster. */
  static long wrongValues(ByteBuffer rows, long... indices) {
    ByteBuffer values = rows.order(ByteOrder.nativeOrder());
    long wrong = 0;
    for (int i = 0; i < indices.length; i++) {
      for (int element = 0; element < ROW_LONGS; element++) {
        int at = (i * ROW_LONGS + element) * Long.BYTES;
        wrong += values.getLong(at) == indices[i] + element ? 0 : 1;
      }
    }
    return wrong;
  }

  int processes() {
    return Math.max(1, ranks / ranksPerProcess);
  }

  ProcessAddress process(int process) {
    return new ProcessAddress(host(process), PORT, process);
  }

  private static String host(int process) {
    return "node-%05d.cluster".formatted(process);
  }

  /** Returns the id of the executor of each rank. */
  List<String> executors() {
    return IntStream.range(0, ranks).mapToObj(r -> "" + r / ranksPerProcess).toList();
  }

  /** Returns the text of the executors of all ranks that Spark sends with each barrier task. */
  String taskAddresses() {
    List<String> addresses = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      addresses.add(host(rank / ranksPerProcess) + ":" + PORT);
    }
    return String.join(",", addresses);
  }

  /** Returns the start message of each rank, by the code of a rank. */
  byte[][] messages() {
    byte[][] messages = new byte[ranks][];
    ProcessDirectory directory = ProcessDirectory.acquire(ProcessDirectory.SHARED_MEMORY);
    try {
      LaneExchange exchange = null;
      for (int rank = 0; rank < ranks; rank++) {
        if (rank % ranksPerProcess == 0) {
          exchange =
              LaneExchange.overFilesAndMessages(directory, silent(process(rank / ranksPerProcess)));
        }
        byte[] address = GroupEndpoint.exampleAddress(exchange, rank, ranks);
        messages[rank] = new StartMessage(OFFER, address).encode();
      }
    } finally {
      directory.release();
    }
    return messages;
  }

  /** Returns the first row of a rank; shards are uneven, as after filters. */
  long firstRow(int rank) {
    long even = ExtentMap.balancedStart(rows, rank, ranks);
    return rank == ranks ? even : even + rows / ranks * (rank % 3) / 3;
  }

  long rowsOf(int rank) {
    return firstRow(rank + 1) - firstRow(rank);
  }

  /** Returns the address of the segment of each rank. */
  List<SegmentAddress> segments() {
    SplittableRandom random = new SplittableRandom(ranks);
    List<SegmentAddress> segments = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      int process = rank / ranksPerProcess;
      long rowCount = rowsOf(rank);
      segments.add(
          new SegmentAddress(
              new Nonce(random.nextLong(), random.nextLong()),
              new BootId(process + 1L),
              "/dev/shm/ddstore-1000-%016x-%d-%08x/rows-%d".formatted(process, PORT, process, rank),
              rowCount,
              rowCount * ROW_LONGS * Long.BYTES,
              PORT + "@" + host(process),
              process(process)));
    }
    return segments;
  }

  /** Returns what a reader of the figures must know of the cluster. */
  Map<String, String> settings() {
    return Map.of("ranksPerExecutor", "" + ranksPerProcess, "rows", "" + rows);
  }

  /** Returns a messenger that only has an address. */
  static Messenger silent(ProcessAddress process) {
    return new Silence(process);
  }

  /** A messenger that only has an address. */
  private record Silence(ProcessAddress local) implements Messenger {
    @Override
    public void setReceiver(Receiver receiver) {}

    @Override
    public void send(ProcessAddress to, ByteBuffer message) {}

    @Override
    public boolean isAlive(ProcessAddress process) {
      return true;
    }
  }
}
