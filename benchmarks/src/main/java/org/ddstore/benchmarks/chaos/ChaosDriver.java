// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.ddstore.benchmarks.chaos.Message.Finding;
import org.ddstore.benchmarks.chaos.Message.Problem;
import org.ddstore.benchmarks.chaos.Message.State;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.DDStores;
import org.ddstore.transport.TransportProviders;
import org.ddstore.types.DDStoreException;

/**
 * The JVM of a round: the driver of an application that performs the steps of the schedule, until
 * the command says {@code stop}.
 */
final class ChaosDriver {
  static final String GO = "go";
  static final String STOP = "stop";
  private static final int HANG_STATUS = 3;
  private static final int PROBE_ROWS = 100;

  /** What the command tells the driver, as one line of JSON. */
  record Setup(
      long seed,
      List<OperationKind> operations,
      List<FaultKind> faults,
      ChaosSpark.Shape shape,
      int first,
      String directory,
      boolean hasPython) {}

  private final Setup setup;
  private final BufferedReader answers;
  private int step;

  private ChaosDriver(Setup setup, BufferedReader answers) {
    this.setup = setup;
    this.answers = answers;
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Setup setup = new ObjectMapper().readValue(in.readLine(), Setup.class);
    new ChaosDriver(setup, in).run();
    System.exit(0);
  }

  static void log(String text) {
    System.err.println(text);
  }

  private void send(State state, String text, List<Finding> findings) {
    synchronized (System.out) {
      System.out.println(new Message(state, step, text, findings).line());
      System.out.flush();
    }
  }

  private void run() throws Exception {
    step = setup.first();
    List<String> left = new ArrayList<>();
    try (EmbeddedSpark spark = ChaosSpark.open(setup.shape());
        Watchdog watchdog = new Watchdog(this::hang)) {
      SparkSession session = spark.session();
      ChaosSpark.awaitExecutors(session, setup.shape());
      Operations operations =
          new Operations(
              session,
              setup.shape(),
              transports(session),
              Path.of(setup.directory()),
              setup.hasPython() ? Optional.of(PythonReader.defaultProgram()) : Optional.empty());
      Schedule schedule = new Schedule(setup.seed(), setup.operations(), setup.faults());
      while (perform(session, operations, schedule.step(step), watchdog)) {
        step++;
      }
      watchdog.begin("the end of the round", 2 * OperationKind.DROP.deadlineSeconds());
      operations.close();
      ChaosSpark.awaitExecutors(session, setup.shape());
      left.addAll(HeldResources.afterStores(session, setup.shape().slots()));
      watchdog.begin("the end of Spark", OperationKind.DROP.deadlineSeconds());
    }
    HeldResources.afterSpark().forEach(each -> left.add("driver after Spark: " + each));
    send(
        State.STOPPED,
        null,
        left.stream().map(each -> new Finding(Problem.LEFTOVER, each)).toList());
  }

  /** Returns the names of the transports by which a job succeeds here. */
  private List<String> transports(SparkSession session) {
    List<String> found = new ArrayList<>();
    for (String name : TransportProviders.names()) {
      try {
        DDStores.from(session.range(PROBE_ROWS).toDF())
            .ranks(setup.shape().executors())
            .transport(name)
            .run(rank -> rank.rank());
        found.add(name);
      } catch (DDStoreException e) { // a preflight, or the ranks, find it unusable
        log(
            "transport %s is left out: %s"
                .formatted(name, e.getMessage().lines().findFirst().orElse("")));
      }
    }
    return found;
  }

  private boolean perform(
      SparkSession session, Operations operations, Schedule.Step next, Watchdog watchdog)
      throws IOException {
    String name = "%s %d".formatted(next.operation(), next.number());
    watchdog.begin("preparation of " + name, OperationKind.LOAD.deadlineSeconds());
    try {
      operations.prepare(next);
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      watchdog.end();
      fail(State.UNPREPARED, e);
      return true;
    }
    watchdog.end();
    send(State.BEGIN, null, List.of());
    if (!GO.equals(answers.readLine())) {
      return false;
    }
    boolean speculates = next.fault().kind() == FaultKind.SPECULATION;
    ChaosSpark.speculate(session, speculates);
    watchdog.begin(name, next.operation().deadlineSeconds());
    try {
      Optional<String> mismatch = operations.perform(next);
      watchdog.end();
      send(
          State.SUCCEEDED,
          null,
          mismatch.stream().map(text -> new Finding(Problem.MISMATCH, text)).toList());
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      watchdog.end();
      fail(State.FAILED, e);
    } finally {
      ChaosSpark.speculate(session, false);
    }
    return true;
  }

  private void fail(State state, Exception failure) {
    StringWriter stack = new StringWriter();
    failure.printStackTrace(new PrintWriter(stack));
    if (failure instanceof Contradiction) {
      send(state, failure.getMessage(), List.of(new Finding(Problem.MISMATCH, stack.toString())));
      return;
    }
    List<Finding> findings =
        Legality.problem(failure).stream()
            .map(text -> new Finding(Problem.ILLEGAL, text + System.lineSeparator() + stack))
            .toList();
    send(state, stack.toString(), findings);
  }

  /** Ends this JVM, because the operation may never end. */
  private void hang(String text) {
    send(State.FAILED, null, List.of(new Finding(Problem.HANG, text)));
    Runtime.getRuntime().halt(HANG_STATUS);
  }
}
