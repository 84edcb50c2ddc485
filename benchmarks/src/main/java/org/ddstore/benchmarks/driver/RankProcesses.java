// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.ddstore.hosts.Host;
import org.ddstore.hosts.TwoHosts;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;

/** The JVMs of the ranks of a measurement, on one or two hosts. Closed by the caller. */
final class RankProcesses implements AutoCloseable {
  private static final String LOOPBACK = "127.0.0.1";
  private static final int SECRET_BYTES = 32;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final TwoHosts hosts;
  private final ChildProcesses processes = new ChildProcesses(PATIENCE);

  private RankProcesses(TwoHosts hosts) {
    this.hosts = hosts;
  }

  /**
   * Starts the ranks and sends them their setup.
   *
   * @param hostCount with 2, rank r runs on host r % 2
   */
  static RankProcesses start(RankWork work, int hostCount) throws IOException {
    Map<String, String> settings = settings();
    Settings.of(settings); // reports illegal settings once
    RankProcesses ranks = new RankProcesses(hostCount == 2 ? TwoHosts.open() : null);
    try {
      byte[] secret = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(secret);
      StoreToken token = StoreToken.random();
      List<String> command = JavaCommand.of(RankJvm.class);
      for (int rank = 0; rank < work.network().ranks(); rank++) {
        Host host = ranks.host(rank);
        Process process =
            ranks.processes.start(
                (host == null ? new ProcessBuilder(command) : host.command(command))
                    .redirectError(ProcessBuilder.Redirect.INHERIT));
        writeLine(
            process,
            RankJvm.encode(
                new RankJvm.Setup(
                    work,
                    rank,
                    host == null ? LOOPBACK : host.address(),
                    token,
                    HexFormat.of().formatHex(secret),
                    settings)));
      }
      return ranks;
    } catch (IOException | RuntimeException e) {
      ranks.closeAfter(e);
      throw e;
    }
  }

  /** Returns the Spark settings that {@code spark-submit} or the user has passed to this JVM. */
  private static Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith("spark.")) {
        settings.put(name, System.getProperty(name));
      }
    }
    return settings;
  }

  private Host host(int rank) {
    if (hosts == null) {
      return null;
    }
    return rank % 2 == 0 ? hosts.first() : hosts.second();
  }

  private static void writeLine(Process process, String line) {
    PrintStream in = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
    in.println(line);
  }

  /**
   * Connects the ranks and returns when all have ended successfully. Blocks.
   *
   * @param results consumer of the results of rank 0 as they arrive
   */
  void awaitResults(Consumer<Object> results) throws IOException, InterruptedException {
    List<BufferedReader> outputs = new ArrayList<>();
    List<String> addresses = new ArrayList<>();
    List<Process> ranks = processes.all();
    for (Process process : ranks) {
      BufferedReader output = process.inputReader(StandardCharsets.US_ASCII);
      outputs.add(output);
      addresses.add(readAfter(output, RankJvm.ADDRESS));
    }
    ranks.forEach(process -> writeLine(process, String.join(",", addresses)));
    BufferedReader first = outputs.get(0);
    for (String line = first.readLine(); line != null; line = first.readLine()) {
      results.accept(RankJvm.decode(line.substring(RankJvm.RESULT.length())));
    }
    for (int rank = 0; rank < ranks.size(); rank++) {
      int status = ranks.get(rank).waitFor();
      if (status != 0) {
        throw new DDStoreException("rank %d exited with status %d".formatted(rank, status));
      }
    }
  }

  private static String readAfter(BufferedReader output, String prefix) throws IOException {
    String line = output.readLine();
    if (line == null || !line.startsWith(prefix)) {
      throw new DDStoreException("a rank exited before it sent its address; see its output above");
    }
    return line.substring(prefix.length());
  }

  private void closeAfter(Exception cause) {
    try {
      close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      processes.close();
    } finally {
      if (hosts != null) {
        hosts.close();
      }
    }
  }
}
