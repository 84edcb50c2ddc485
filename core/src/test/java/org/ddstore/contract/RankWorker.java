// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;

/**
 * A JVM that plays one rank of one scenario after the other. Each {@link Task} on its standard
 * input is answered by a line {@code ok}, or {@code failed} and the stack trace in base64; what
 * comes between is the rank's {@link PipeMeeting}.
 */
final class RankWorker {
  static final String OK = "ok";
  static final String FAILED = "failed";

  private final RankBackend backend;
  private final Leaks leaks;
  private final BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
  private final PrintStream out;

  private RankWorker(RankBackend backend, PrintStream out) {
    this.backend = backend;
    this.leaks = new Leaks(backend.directories().stream().map(Path::of).toList());
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    new RankWorker((RankBackend) Base64Object.decode(args[0]), out).work();
  }

  private void work() throws IOException {
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(answer(Task.parse(line)));
    }
  }

  private String answer(Task task) {
    try {
      play(task);
      leaks.assertNothingHeld();
      return OK;
    } catch (Throwable e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      byte[] text = trace.toString().getBytes(StandardCharsets.UTF_8);
      return FAILED + " " + Base64.getEncoder().encodeToString(text);
    }
  }

  private void play(Task task) throws Exception {
    Meeting meeting = new PipeMeeting(task, in, out);
    Scenario scenario = (Scenario) Base64Object.decode(task.scenario());
    try (RankEnv rank = backend.enter(meeting, task.timeout())) {
      scenario.run(rank);
      if (!task.losing()) {
        rank.meet(); // no rank leaves the group before all have finished
      }
    }
  }

  /**
   * A rank's part in a run; one line of text.
   *
   * @param places of the ranks, by name
   * @param address of this rank's place
   * @param losing whether a rank will be lost
   * @param scenario encoded
   */
  record Task(
      int rank,
      List<String> places,
      String address,
      Duration timeout,
      boolean losing,
      String scenario) {
    String line() {
      return "%d %s %s %s %s %s"
          .formatted(rank, String.join(",", places), address, timeout, losing, scenario);
    }

    static Task parse(String line) {
      String[] words = line.split(" ", -1);
      return new Task(
          Integer.parseInt(words[0]),
          List.of(words[1].split(",", -1)),
          words[2],
          Duration.parse(words[3]),
          Boolean.parseBoolean(words[4]),
          words[5]);
    }
  }
}
