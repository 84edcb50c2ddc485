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

  private void send(State state, OperationKind operation, String text, List<Finding> findings) {
    synchronized (System.out) {
      System.out.println(new Message(state, step, operation, text, findings).line());
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
      throws IOException, InterruptedException {
    OperationKind kind = next.operation();
    String name = "%s %d".formatted(kind, next.number());
    watchdog.begin("preparation of " + name, OperationKind.LOAD.deadlineSeconds());
    Optional<ReadsBeside> beside;
    try {
      operations.prepare(next);
      beside = operations.beside(next);
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      watchdog.end();
      fail(State.UNPREPARED, kind, e, List.of());
      return true;
    }
    watchdog.end();
    send(State.BEGIN, kind, null, List.of());
    if (!GO.equals(answers.readLine())) {
      return false;
    }
    ChaosSpark.speculate(session, next.fault().kind() == FaultKind.SPECULATION);
    Thread reader =
        new Thread(() -> beside.ifPresent(each -> each.run(this::ended)), "chaos-beside");
    watchdog.begin(name, kind.deadlineSeconds());
    reader.start();
    List<Finding> findings = new ArrayList<>();
    Exception failure = null;
    try {
      operations.perform(next).ifPresent(text -> findings.add(new Finding(Problem.MISMATCH, text)));
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      failure = e;
    }
    ChaosSpark.speculate(session, false);
    watchdog.begin("a read beside " + name, OperationKind.REPAIR.deadlineSeconds());
    beside.ifPresent(ReadsBeside::stop);
    reader.join();
    watchdog.end();
    if (failure != null && beside.map(ReadsBeside::hasFoundAfter).orElse(false)) {
      findings.add(new Finding(Problem.MISMATCH, "a read has found what a failed write wrote"));
    }
    if (failure == null) {
      send(State.SUCCEEDED, kind, null, findings);
    } else {
      fail(State.FAILED, kind, failure, findings);
    }
    return true;
  }

  /** Reports the end of a read beside the operation of the step. */
  private void ended(
      OperationKind operation, boolean mayFail, Exception failure, List<Finding> findings) {
    if (failure == null) {
      send(State.READ_BESIDE, operation, null, findings);
    } else {
      fail(mayFail ? State.ENDED_BESIDE : State.FAILED_BESIDE, operation, failure, findings);
    }
  }

  private void fail(State state, OperationKind operation, Exception failure, List<Finding> more) {
    StringWriter stack = new StringWriter();
    failure.printStackTrace(new PrintWriter(stack));
    List<Finding> findings = new ArrayList<>(more);
    boolean isMismatch = stack.toString().contains(Observation.UNEXPLAINED);
    if (isMismatch || failure instanceof Contradiction) {
      findings.add(new Finding(Problem.MISMATCH, stack.toString()));
    } else {
      Legality.problem(failure, state == State.ENDED_BESIDE)
          .ifPresent(
              text ->
                  findings.add(
                      new Finding(Problem.ILLEGAL, text + System.lineSeparator() + stack)));
    }
    send(state, operation, stack.toString(), findings);
  }

  /** Ends this JVM, because the operation may never end. */
  private void hang(String text) {
    send(State.FAILED, null, null, List.of(new Finding(Problem.HANG, text)));
    Runtime.getRuntime().halt(HANG_STATUS);
  }
}
