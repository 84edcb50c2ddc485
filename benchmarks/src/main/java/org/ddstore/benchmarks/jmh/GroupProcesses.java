// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.jmh;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.ddstore.benchmarks.driver.RankJvm;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.ReduceOp;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.RankFailedException;

/**
 * A group in which this JVM is rank 0 and each other rank is a child JVM that repeats the same
 * collective until rank 0 closes. The ranks exchange their addresses over the children's standard
 * streams.
 */
final class GroupProcesses implements AutoCloseable {
  /** Number of floats: 2.6 MB, the gradients of a small convolutional network. */
  static final int FLOATS = 650_000;

  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private final List<Process> children = new ArrayList<>();
  private final WireSession session;
  private final Communicator communicator;

  private GroupProcesses(String means, String call, int ranks) throws IOException {
    StoreToken token = StoreToken.random();
    for (int rank = 1; rank < ranks; rank++) {
      children.add(
          new ProcessBuilder(
                  ProcessHandle.current().info().command().orElse("java"),
                  "-cp",
                  System.getProperty("java.class.path"),
                  GroupProcesses.class.getName(),
                  means,
                  call,
                  Integer.toString(rank),
                  Integer.toString(ranks))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start());
    }
    session = join(token);
    GroupEndpoint endpoint = createEndpoint(session, means, 0, ranks);
    List<byte[]> addresses = new ArrayList<>(List.of(endpoint.address()));
    List<PrintStream> inputs = new ArrayList<>();
    for (Process child : children) {
      PrintStream in = new PrintStream(child.getOutputStream(), true, StandardCharsets.US_ASCII);
      in.println(RankJvm.encode(token));
      inputs.add(in);
      addresses.add(Base64.getDecoder().decode(child.inputReader().readLine()));
    }
    for (PrintStream in : inputs) {
      addresses.forEach(address -> in.println(Base64.getEncoder().encodeToString(address)));
    }
    communicator = endpoint.connect(addresses, TIMEOUT);
  }

  /**
   * @param means medium of the lanes: {@code shared-memory} or {@code tcp}
   * @param call collective that the other ranks repeat: {@code barrier} or {@code allReduce}
   */
  static GroupProcesses start(String means, String call, int ranks) throws IOException {
    return new GroupProcesses(means, call, ranks);
  }

  Communicator communicator() {
    return communicator;
  }

  @Override
  public void close() {
    communicator.close();
    session.close();
    try {
      for (Process child : children) {
        child.waitFor();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs a child. Arguments: means, call, rank, ranks. */
  public static void main(String[] arguments) throws Exception {
    int rank = Integer.parseInt(arguments[2]);
    int ranks = Integer.parseInt(arguments[3]);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    try (WireSession session = join((StoreToken) RankJvm.decode(in.readLine()));
        GroupEndpoint endpoint = createEndpoint(session, arguments[0], rank, ranks)) {
      System.out.println(Base64.getEncoder().encodeToString(endpoint.address()));
      List<byte[]> addresses = new ArrayList<>();
      while (addresses.size() < ranks) {
        addresses.add(Base64.getDecoder().decode(in.readLine()));
      }
      try (Communicator communicator = endpoint.connect(addresses, TIMEOUT)) {
        repeat(communicator, arguments[1]);
      }
    }
  }

  private static GroupEndpoint createEndpoint(
      WireSession session, String means, int rank, int ranks) throws IOException {
    boolean shortcut = means.equals("shared-memory");
    return GroupEndpoint.create(
        session.lanes(ProcessDirectory.SHARED_MEMORY, shortcut), rank, ranks);
  }

  private static void repeat(Communicator communicator, String call) {
    float[] zeros = new float[FLOATS];
    Consumer<Communicator> once =
        call.equals("barrier") ? Communicator::barrier : c -> c.allReduce(zeros, ReduceOp.SUM);
    try {
      while (true) {
        once.accept(communicator);
      }
    } catch (RankFailedException e) {
      // Rank 0 has closed: the measurement is over.
    }
  }

  private static WireSession join(StoreToken token) {
    return Wire.join(token, WireOptions.of(new SparkConf(false), null, "127.0.0.1"));
  }
}
