// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A JVM that runs some ranks of one group after the other, a thread each. Each line of its standard
 * input is a task: its ranks meet the others through files that hold addresses, do the work, and
 * print one line each: {@code ok} and a result, or the exception. {@link #DONE} follows once
 * everything is closed. A line on its standard input lets a rank go on where it holds.
 */
final class RankProcess {
  static final String DONE = "done";

  private static final int BARRIERS = 1_000;
  private static final int FLOATS = 650_000;

  private final Communicator communicator;
  private final BufferedReader in;

  private RankProcess(Communicator communicator, BufferedReader in) {
    this.communicator = communicator;
    this.in = in;
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String task = in.readLine(); task != null; task = in.readLine()) {
      play(in, task.split("\t", -1));
      System.out.println(DONE);
    }
  }

  private static void play(BufferedReader in, String... task) throws Exception {
    try (Means means = Means.open(Means.Kind.valueOf(task[2]), Path.of(task[1]))) {
      List<Thread> threads = new ArrayList<>();
      for (String rank : task[3].split(",", -1)) {
        Thread thread = new Thread(() -> run(means.exchange(), Integer.parseInt(rank), in, task));
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  private static void run(LaneExchange exchange, int rank, BufferedReader in, String... task) {
    int size = Integer.parseInt(task[4]);
    Duration timeout = Duration.ofMillis(Long.parseLong(task[5]));
    try (Communicator communicator = connect(exchange, Path.of(task[0]), rank, size, timeout)) {
      String line;
      try {
        line = "ok " + new RankProcess(communicator, in).work(task[7], Long.parseLong(task[6]));
      } catch (Exception e) {
        line = e.toString();
      }
      System.out.println(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Communicator connect(
      LaneExchange exchange, Path meeting, int rank, int size, Duration timeout)
      throws IOException {
    GroupEndpoint endpoint = GroupEndpoint.create(exchange, rank, size);
    Path unfinished = meeting.resolve("unfinished-" + rank);
    Files.write(unfinished, endpoint.address());
    Files.move(unfinished, meeting.resolve("rank-" + rank), StandardCopyOption.ATOMIC_MOVE);
    List<byte[]> addresses = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      Path file = meeting.resolve("rank-" + r);
      await()
          .pollInterval(Duration.ofMillis(5))
          .atMost(Duration.ofSeconds(60))
          .until(() -> Files.exists(file));
      addresses.add(Files.readAllBytes(file));
    }
    return Ranks.connect(endpoint, addresses, timeout);
  }

  private String work(String what, long seed) throws Exception {
    switch (what) {
      case "work" -> {
        return collectives(seed);
      }
      case "barrier" -> {}
      case "start then barrier" -> start();
      case "hold" -> hold();
      case "hold then barrier" -> {
        hold();
        communicator.barrier();
      }
      case "reduce" -> communicator.allReduce(new float[3], ReduceOp.SUM);
      case "throw" -> communicator.exchange("barrier()", RankProcess::boom);
      case "abort" -> communicator.abort(new IOException("boom"));
      case "close" -> communicator.close();
      default -> throw new IllegalArgumentException(what);
    }
    communicator.barrier();
    return "";
  }

  private static byte[] boom() throws IOException {
    throw new IOException("boom");
  }

  private void start() {
    communicator.awaitAll("start", CommunicatorContract.TIMEOUT);
  }

  private void hold() throws IOException {
    start();
    System.out.println("holding");
    if (in.readLine() == null) {
      throw new IOException("the test did not let this rank continue");
    }
  }

  private String collectives(long seed) {
    Random random = new Random(seed + communicator.rank());
    for (int i = 0; i < BARRIERS; i++) {
      for (int spins = random.nextInt(50) == 0 ? random.nextInt(50_000) : 0; spins > 0; spins--) {
        Thread.onSpinWait();
      }
      communicator.barrier();
    }
    float[] values = ReductionOracle.floats(seed, communicator.rank(), FLOATS);
    communicator.allReduce(values, ReduceOp.SUM);
    byte[] mine = new byte[5_000_000 + communicator.rank()];
    new Random(seed - communicator.rank()).nextBytes(mine);
    byte[][] all = communicator.allGather(mine);
    return digest(values) + " " + digest(all);
  }

  static String digest(float[] values) {
    return Integer.toHexString(Arrays.hashCode(ReductionOracle.rawBits(values)));
  }

  static String digest(byte[][] all) {
    return Integer.toHexString(Arrays.deepHashCode(all));
  }

  static String expected(long seed, int size) {
    float[] sum = ReductionOracle.reduceFloats(seed, size, FLOATS, ReduceOp.SUM);
    int[] bits = ReductionOracle.canonicalBits(sum);
    byte[][] all = new byte[size][];
    for (int r = 0; r < size; r++) {
      all[r] = new byte[5_000_000 + r];
      new Random(seed - r).nextBytes(all[r]);
    }
    return "ok " + Integer.toHexString(Arrays.hashCode(bits)) + " " + digest(all);
  }
}
