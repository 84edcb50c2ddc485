// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * The meeting of ranks that are processes, by way of the test: a line to standard output asks, a
 * line of standard input answers, see {@link ScenarioRun}.
 */
final class PipeMeeting implements Meeting {
  // Asked, each followed by a blank and base64.
  static final String TELL = "tell";
  static final String ACT = "act";
  // Answered: base64 of each rank, separated by commas; nothing; base64 of the reason.
  static final String ALL = "all";
  static final String DONE = "done";
  static final String REFUSED = "refused";

  private final RankWorker.Task task;
  private final BufferedReader in;
  private final PrintStream out;

  PipeMeeting(RankWorker.Task task, BufferedReader in, PrintStream out) {
    this.task = task;
    this.in = in;
    this.out = out;
  }

  @Override
  public int rank() {
    return task.rank();
  }

  @Override
  public int ranks() {
    return task.places().size();
  }

  @Override
  public String address() {
    return task.address();
  }

  @Override
  public boolean sharesHost(int other) {
    return task.places().get(other).equals(task.places().get(rank()));
  }

  @Override
  public byte[][] tell(byte[] mine) {
    String all = ask(TELL, mine, ALL);
    return Arrays.stream(all.split(",", -1))
        .map(Base64.getDecoder()::decode)
        .toArray(byte[][]::new);
  }

  @Override
  public void act(String name) {
    ask(ACT, name.getBytes(StandardCharsets.UTF_8), DONE);
  }

  private synchronized String ask(String word, byte[] bytes, String expected) {
    out.println(word + " " + Base64.getEncoder().encodeToString(bytes));
    try {
      String line = in.readLine();
      if (line == null) {
        throw new IllegalStateException(word + ": the test has ended");
      }
      String[] answer = line.split(" ", 2);
      if (answer[0].equals(REFUSED)) {
        throw new IllegalStateException(
            word
                + ": "
                + new String(Base64.getDecoder().decode(answer[1]), StandardCharsets.UTF_8));
      }
      if (!answer[0].equals(expected)) {
        throw new IllegalStateException(word + " answered by " + line);
      }
      return answer[1];
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
