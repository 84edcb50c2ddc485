package org.ddstore.benchmarks;

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
import org.ddstore.RankFailedException;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.ReduceOp;
import org.ddstore.collective.SocketMessenger;
import org.ddstore.memory.ProcessDirectory;

/**
 * A group of which this JVM is rank 0 and each other rank a JVM of its own, which calls the same
 * collective over and over until rank 0 closes. The ranks exchange their addresses over the
 * children's standard streams.
 */
final class GroupProcesses implements AutoCloseable {
  /** 2.6 MB: the gradients of a small convolutional network. */
  static final int FLOATS = 650_000;

  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private final List<Process> children = new ArrayList<>();
  private final Means means;
  private final Communicator communicator;

  private GroupProcesses(String meansName, String call, int ranks) throws IOException {
    for (int rank = 1; rank < ranks; rank++) {
      children.add(
          new ProcessBuilder(
                  ProcessHandle.current().info().command().orElse("java"),
                  "-cp",
                  System.getProperty("java.class.path"),
                  GroupProcesses.class.getName(),
                  meansName,
                  call,
                  Integer.toString(rank),
                  Integer.toString(ranks))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start());
    }
    means = Means.open(meansName);
    GroupEndpoint endpoint = GroupEndpoint.create(means.exchange, 0, ranks);
    List<byte[]> addresses = new ArrayList<>(List.of(endpoint.address()));
    for (Process child : children) {
      addresses.add(Base64.getDecoder().decode(child.inputReader().readLine()));
    }
    for (Process child : children) {
      PrintStream out = new PrintStream(child.getOutputStream(), true, StandardCharsets.US_ASCII);
      addresses.forEach(address -> out.println(Base64.getEncoder().encodeToString(address)));
    }
    communicator = endpoint.connect(addresses, TIMEOUT);
  }

  /**
   * @param means {@code shared-memory} or {@code messages}
   * @param call {@code barrier} or {@code allReduce}
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
    means.close();
    try {
      for (Process child : children) {
        child.waitFor();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A child: means, call, rank, ranks. */
  public static void main(String[] arguments) throws IOException {
    int rank = Integer.parseInt(arguments[2]);
    int ranks = Integer.parseInt(arguments[3]);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    try (Means means = Means.open(arguments[0]);
        GroupEndpoint endpoint = GroupEndpoint.create(means.exchange, rank, ranks)) {
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

  /** What lanes travel over; only one of the two is there. */
  private static final class Means implements AutoCloseable {
    private final ProcessDirectory directory;
    private final SocketMessenger messenger;
    private final LaneExchange exchange;

    private Means(ProcessDirectory directory, SocketMessenger messenger) {
      this.directory = directory;
      this.messenger = messenger;
      this.exchange =
          messenger == null
              ? LaneExchange.overFiles(directory)
              : LaneExchange.overMessages(messenger);
    }

    static Means open(String name) throws IOException {
      return switch (name) {
        case "shared-memory" ->
            new Means(ProcessDirectory.acquire(ProcessDirectory.SHARED_MEMORY), null);
        case "messages" -> new Means(null, SocketMessenger.open());
        default -> throw new IllegalArgumentException("means " + name);
      };
    }

    @Override
    public void close() {
      exchange.close();
      if (messenger == null) {
        directory.release();
      } else {
        messenger.close();
      }
    }
  }
}
