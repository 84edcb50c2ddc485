// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The side of a {@link RankWorker} that the test sees. */
final class WorkerProcess implements AutoCloseable {
  private static final long PATIENCE_S = 150;
  private static final int LOG_CHARACTERS = 8000;

  private final Process process;
  private final Place place;
  private final Path log;

  private WorkerProcess(Process process, Place place, Path log) {
    this.process = process;
    this.place = place;
    this.log = log;
  }

  record Said(WorkerProcess worker, String line) {
    static final String ENDED = "ended";
  }

  /**
   * @param compilerOptions JVM options beside those that every rank has
   * @param said takes what the process writes, line by line, and its end
   */
  static WorkerProcess start(
      RankBackend backend, List<String> compilerOptions, Place place, BlockingQueue<Said> said)
      throws IOException {
    Path log = Files.createTempFile("worker-", ".log");
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.addAll(compilerOptions);
    command.addAll(backend.jvmOptions());
    command.addAll(List.of(RankWorker.class.getName(), Base64Object.encode(backend)));
    Process process = place.command(command).redirectError(log.toFile()).start();
    WorkerProcess worker = new WorkerProcess(process, place, log);
    Thread reader = new Thread(() -> worker.read(said), "answers-of-" + process.pid());
    reader.setDaemon(true);
    reader.start();
    return worker;
  }

  private void read(BlockingQueue<Said> said) {
    try (BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        said.add(new Said(this, line));
      }
    } catch (IOException e) {
      // It was killed.
    }
    said.add(new Said(this, Said.ENDED));
  }

  void send(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      process.getOutputStream().flush();
    } catch (IOException e) {
      // It has ended, and its reader says so.
    }
  }

  void refuse(String why) {
    byte[] bytes = why.getBytes(StandardCharsets.UTF_8);
    send(PipeMeeting.REFUSED + " " + Base64.getEncoder().encodeToString(bytes));
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  Place place() {
    return place;
  }

  boolean hasEnded() {
    return !process.isAlive();
  }

  int awaitEnd() throws InterruptedException {
    return process.waitFor();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  String tailOfLog() {
    try {
      String text = Files.readString(log);
      return text.isEmpty()
          ? "(it wrote nothing to its standard error)"
          : "its standard error ends:\n"
              + text.substring(Math.max(0, text.length() - LOG_CHARACTERS));
    } catch (IOException e) {
      return "its standard error cannot be read: " + e;
    }
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      process.onExit().get(PATIENCE_S, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      process.destroyForcibly();
      throw new AssertionError("a worker did not end: " + tailOfLog(), e);
    }
    Files.delete(log);
  }
}
