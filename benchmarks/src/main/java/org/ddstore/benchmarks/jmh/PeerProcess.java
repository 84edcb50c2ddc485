// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.jmh;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.memory.ProcessDirectory;

/**
 * A second rank in a child JVM that holds half of the rows, which are read over the same-host path.
 * The ranks exchange their addresses over the child's standard streams.
 */
final class PeerProcess implements AutoCloseable {
  static final String VARIABLE = "x";
  private static final int RANKS = 2;
  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private final Process process;
  private final DDStore store;
  private final Communicator communicator;
  private final ProcessDirectory directory;

  private PeerProcess(
      Process process, ProcessDirectory directory, Communicator communicator, DDStore store) {
    this.process = process;
    this.directory = directory;
    this.communicator = communicator;
    this.store = store;
  }

  /** Starts the peer and opens a store of {@code 2 * rowsEach} rows of {@code floats} float32. */
  static PeerProcess start(int rowsEach, int floats) throws IOException {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElse("java"),
                "-cp",
                System.getProperty("java.class.path"),
                PeerProcess.class.getName(),
                Integer.toString(rowsEach),
                Integer.toString(floats))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    ProcessDirectory directory = ProcessDirectory.acquire(ProcessDirectory.SHARED_MEMORY);
    GroupEndpoint endpoint = GroupEndpoint.create(LaneExchange.overFiles(directory), 0, RANKS);
    byte[] peer = Base64.getDecoder().decode(process.inputReader().readLine());
    PrintStream out = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
    out.println(Base64.getEncoder().encodeToString(endpoint.address()));
    Communicator communicator = endpoint.connect(List.of(endpoint.address(), peer), TIMEOUT);
    DDStore store = DDStore.open(communicator, StoreOptions.defaults());
    store.add(VARIABLE, rows(0, rowsEach, floats));
    return new PeerProcess(process, directory, communicator, store);
  }

  DDStore store() {
    return store;
  }

  private static Tensor rows(int rank, int rowsEach, int floats) {
    float[] values = new float[rowsEach * floats];
    for (int i = 0; i < values.length; i++) {
      values[i] = rank * values.length + i;
    }
    return Tensor.wrap(values, rowsEach, floats);
  }

  @Override
  public void close() {
    store.close();
    communicator.close();
    directory.release();
    process.destroy();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs the peer: adds its rows and waits for the end of its input. */
  public static void main(String[] arguments) throws IOException {
    ProcessDirectory directory = ProcessDirectory.acquire(ProcessDirectory.SHARED_MEMORY);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    GroupEndpoint endpoint = GroupEndpoint.create(LaneExchange.overFiles(directory), 1, RANKS);
    byte[] own = endpoint.address();
    System.out.println(Base64.getEncoder().encodeToString(own));
    byte[] other = Base64.getDecoder().decode(in.readLine());
    try (Communicator communicator = endpoint.connect(List.of(other, own), TIMEOUT);
        DDStore store = DDStore.open(communicator, StoreOptions.defaults())) {
      store.add(VARIABLE, rows(1, Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1])));
      while (in.readLine() != null) {
        // No more input is expected; its end signals the end of the benchmark.
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      directory.release();
    }
  }
}
