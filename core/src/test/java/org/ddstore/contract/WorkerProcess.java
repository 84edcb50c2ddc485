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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.ddstore.Backing;

/** The side of a {@link RankWorker} that the test sees. */
final class WorkerProcess implements AutoCloseable {
  private static final long PATIENCE_S = 150;
  private static final int LOG_CHARACTERS = 8000;
  private static final String ENDED = "";

  private final Process process;
  private final Path log;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  private WorkerProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  static WorkerProcess start(Backing backing, Path root) throws IOException {
    Path log = Files.createTempFile("worker-", ".log");
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.addAll(List.of(RankWorker.class.getName(), backing.name(), root.toString()));
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    WorkerProcess worker = new WorkerProcess(process, log);
    Thread reader = new Thread(worker::readAnswers, "answers-of-" + process.pid());
    reader.setDaemon(true);
    reader.start();
    return worker;
  }

  private void readAnswers() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        answers.add(line);
      }
    } catch (IOException e) {
      answers.add(ENDED);
    }
    answers.add(ENDED);
  }

  void send(RankWorker.Task task) throws IOException {
    process.getOutputStream().write((task.line() + "\n").getBytes(StandardCharsets.US_ASCII));
    process.getOutputStream().flush();
  }

  /** Waits for the answer; one that is not ok, none in time, or the end is added to failures. */
  void awaitOk(String rank, List<AssertionError> failures) throws Exception {
    String answer = answers.poll(PATIENCE_S, TimeUnit.SECONDS);
    if ("ok".equals(answer)) {
      return;
    }
    String said;
    if (answer == null) {
      said = "no answer within " + PATIENCE_S + " s";
      process.destroyForcibly().waitFor();
    } else if (answer.equals(ENDED)) {
      said = "its process ended with status " + process.waitFor();
    } else {
      said = new String(Base64.getDecoder().decode(answer), StandardCharsets.UTF_8);
    }
    failures.add(new AssertionError("%s: %s%n%s".formatted(rank, said, tailOfLog())));
  }

  private String tailOfLog() throws IOException {
    String text = Files.readString(log);
    return text.isEmpty()
        ? "(it wrote nothing to its standard error)"
        : "its standard error ends:\n"
            + text.substring(Math.max(0, text.length() - LOG_CHARACTERS));
  }

  /** Waits until the process has been killed. */
  void awaitKill() throws InterruptedException {
    if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("the rank to be lost lives");
    }
  }

  boolean hasEnded() {
    return !process.isAlive();
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
