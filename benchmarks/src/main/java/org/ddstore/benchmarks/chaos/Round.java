// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.benchmarks.chaos.Message.Problem;
import org.ddstore.benchmarks.chaos.Message.State;
import org.ddstore.benchmarks.driver.JavaCommand;

/** A Spark application of a campaign, from its start to the search for what it leaves behind. */
final class Round {
  private static final Duration SILENCE = Duration.ofMinutes(11);
  private static final Duration EXIT = Duration.ofSeconds(60);
  private static final String DATA = "data";
  private static final String END = "end of the output";

  private final Site site;
  private final Schedule schedule;
  private final Journal journal;
  private final Path directory;
  private final boolean isVerbose;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private boolean isStopped;
  private long endNs; // 0 before the first operation

  /** Time of the last message, and thus the begin of a preparation. */
  private long lastNs = System.nanoTime();

  Round(Site site, Schedule schedule, Journal journal, Path directory, boolean isVerbose) {
    this.site = site;
    this.schedule = schedule;
    this.journal = journal;
    this.directory = directory;
    this.isVerbose = isVerbose;
  }

  /**
   * Runs steps for a duration, from the first operation on.
   *
   * @return the number of the next step
   */
  int run(int first, ChaosSpark.Shape shape, Duration duration, boolean hasPython)
      throws IOException, InterruptedException {
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    Path data = Files.createDirectory(directory.resolve(DATA));
    Process driver = site.start(command(temporary));
    PrintStream answers = new PrintStream(driver.getOutputStream(), true, StandardCharsets.UTF_8);
    answers.println(
        new ObjectMapper()
            .writeValueAsString(
                new ChaosDriver.Setup(
                    schedule.seed(),
                    schedule.operations(),
                    schedule.faults(),
                    shape,
                    first,
                    data.toString(),
                    hasPython)));
    Thread reader = new Thread(() -> read(driver), "chaos-driver-output");
    reader.start();
    int next = first;
    Set<ProcessHandle> executors;
    try (Injector injector = new Injector(site, driver, journal)) {
      while (!isStopped) {
        Message message = message(driver, next);
        if (message == null) {
          next++; // the driver is gone: not the same step again
          break;
        }
        next = handle(message, injector, answers, duration);
      }
      injector.executors();
      executors = injector.seen();
    }
    end(driver, executors, next, temporary);
    evidence(next);
    reader.join();
    return next;
  }

  /** Notes rows that no version explains, also of reads that failed or were repeated. */
  private void evidence(int step) {
    try {
      Observation.takeEvidence(directory.resolve(DATA))
          .forEach(text -> finding(Problem.MISMATCH.toString(), step, text));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ProcessBuilder command(Path temporary) {
    List<String> command = JavaCommand.of(ChaosDriver.class);
    command.addAll(
        1,
        List.of(
            "-Djava.io.tmpdir=" + temporary,
            "-Dlog4j2.configurationFile=" + ChaosCommand.LOGGING,
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC"));
    site.master()
        .ifPresent(
            master ->
                command.addAll(
                    1,
                    List.of(
                        "-Dspark.master=" + master,
                        "-Dspark.driver.host=" + site.address(),
                        "-Dspark.driver.bindAddress=" + site.address(),
                        "-Dspark.ui.enabled=false",
                        "-Dspark.locality.wait=0",
                        "-Dspark.executor.extraClassPath=" + System.getProperty("java.class.path"),
                        "-Dspark.executor.defaultJavaOptions=-Djava.io.tmpdir=" + directory)));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("SPARK_LOCAL_IP", site.address());
    builder.redirectError(
        isVerbose
            ? ProcessBuilder.Redirect.INHERIT
            : ProcessBuilder.Redirect.to(directory.resolve("driver.log").toFile()));
    return builder;
  }

  private void read(Process driver) {
    try (BufferedReader output = driver.inputReader(StandardCharsets.UTF_8)) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      journal.event("output of the driver: " + e);
    }
    lines.add(END);
  }

  /** Returns the next message; null if the driver has ended, or is killed because it is silent. */
  private Message message(Process driver, int step) throws InterruptedException {
    while (true) {
      String line = lines.poll(SILENCE.toSeconds(), TimeUnit.SECONDS);
      if (line == null) {
        finding(Problem.HANG.toString(), step, "the driver is silent for " + SILENCE);
        return null;
      }
      if (line.equals(END)) {
        int status = driver.waitFor();
        if (journal.findings(Problem.HANG) == 0) {
          finding("DRIVER", step, "the driver ended with status %d".formatted(status));
        }
        return null;
      }
      Message message = Message.parse(line).orElse(null);
      if (message != null) {
        return message;
      }
    }
  }

  private void finding(String problem, int step, String text) {
    journal.finding(problem, "%s %d".formatted(schedule.step(step).operation(), step), text);
  }

  /** A job by MPI replaces executors whose world has lost a member, and with them their rows. */
  private static boolean isReplacement(Schedule.Step step, Message message) {
    return step.operation() == OperationKind.TRANSPORT
        && message.text().matches("(?s).*(RankLostException|StoreLostError).*");
  }

  /** Handles a message; returns the number of the next step. */
  private int handle(Message message, Injector injector, PrintStream answers, Duration duration) {
    Schedule.Step step = schedule.step(message.step());
    String name = "%s %d on store %d".formatted(step.operation(), step.number(), step.store());
    message
        .findings()
        .forEach(each -> finding(each.problem().toString(), message.step(), each.text()));
    long now = System.nanoTime();
    switch (message.state()) {
      case BEGIN -> {
        if (endNs == 0) {
          endNs = now + duration.toNanos();
          injector.background(schedule, message.step());
        }
        boolean goesOn = now < endNs;
        if (goesOn) {
          journal.event("begin %s, fault %s".formatted(name, step.fault()));
          injector.begin(step);
        }
        answers.println(goesOn ? ChaosDriver.GO : ChaosDriver.STOP);
        return message.step();
      }
      case STOPPED -> {
        isStopped = true;
        return message.step();
      }
      case READ_BESIDE, FAILED_BESIDE, ENDED_BESIDE -> {
        boolean failed = message.state() != State.READ_BESIDE;
        journal.operation(message.operation(), !failed);
        if (failed) {
          journal.event(
              "failed %s beside %s: %s".formatted(message.operation(), name, message.text()));
        }
        if (message.state() == State.FAILED_BESIDE
            && message.findings().isEmpty()
            && !isReplacement(step, message)
            && !injector.hasFault(lastNs, now)) {
          finding("UNEXCUSED", message.step(), "failed without a fault: " + message.text());
        }
        return message.step();
      }
      default -> {
        injector.end();
        evidence(message.step());
        boolean succeeded = message.state() == State.SUCCEEDED;
        journal.event(
            "%s %s%s"
                .formatted(
                    message.state().toString().toLowerCase(Locale.ROOT),
                    name,
                    succeeded ? "" : ": " + message.text()));
        if (message.state() != State.UNPREPARED) {
          journal.operation(step.operation(), succeeded);
        }
        if (!succeeded && message.findings().isEmpty() && !injector.hasFault(lastNs, now)) {
          finding("UNEXCUSED", message.step(), "failed without a fault: " + message.text());
        }
        lastNs = now;
        return message.step() + 1;
      }
    }
  }

  /** Waits for the end of the driver and its executors, and looks for what they leave. */
  private void end(Process driver, Set<ProcessHandle> executors, int next, Path temporary)
      throws IOException, InterruptedException {
    boolean ended = driver.waitFor(isStopped ? EXIT.toSeconds() : 0, TimeUnit.SECONDS);
    if (!ended) {
      if (isStopped) {
        finding(Problem.LEFTOVER.toString(), next, "the driver still runs after " + EXIT);
      }
      driver.destroyForcibly().waitFor();
    }
    List<ProcessHandle> left = alive(executors);
    if (isStopped) {
      for (ProcessHandle executor : left) {
        finding(
            Problem.LEFTOVER.toString(),
            next,
            "executor process %d: %s"
                .formatted(executor.pid(), executor.info().commandLine().orElse("")));
      }
      for (String file : site.sharedMemory(executors)) {
        finding(Problem.LEFTOVER.toString(), next, file);
      }
      try (Stream<Path> files = Files.list(temporary)) {
        files.forEach(file -> finding(Problem.LEFTOVER.toString(), next, file.toString()));
      }
    }
    left.forEach(ProcessHandle::destroyForcibly);
  }

  /** Returns the executors that still run after a time. */
  private static List<ProcessHandle> alive(Set<ProcessHandle> executors)
      throws InterruptedException {
    long deadlineNs = System.nanoTime() + EXIT.toNanos();
    while (true) {
      List<ProcessHandle> alive = executors.stream().filter(ProcessHandle::isAlive).toList();
      if (alive.isEmpty() || System.nanoTime() > deadlineNs) {
        return alive;
      }
      Thread.sleep(100);
    }
  }
}
