// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.ddstore.contract.ProcessTree;

/**
 * A JVM with Connect's client alone, in which remote users run programs of {@link RemoteUser} one
 * after the other. Each has a session of its own.
 */
final class RemoteUsers implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final Path out;
  private final Path err;
  private final ProcessTree process;

  /** Number of lines of the programs that have ended. */
  private int linesRead;

  private RemoteUsers(Path out, Path err, ProcessTree process) {
    this.out = out;
    this.err = err;
    this.process = process;
  }

  /**
   * Starts the JVM.
   *
   * @param work an existing folder for its outputs
   * @param program command that runs {@link RemoteUser} without arguments
   */
  static RemoteUsers start(Path work, ProcessBuilder program) throws IOException {
    Path out = work.resolve("users-out.txt");
    Path err = work.resolve("users-err.txt");
    program.redirectOutput(out.toFile()).redirectError(err.toFile());
    return new RemoteUsers(out, err, ProcessTree.start(program));
  }

  /**
   * Runs a program to its end.
   *
   * @param arguments address, step, and arguments of the step
   * @return lines that it prints
   * @throws AssertionError if it fails; if it does not end, no later one can run
   */
  List<String> run(List<String> arguments) throws IOException {
    assertThat(process.isAlive()).as("the JVM runs; an earlier program has ended it").isTrue();
    int errors = Files.readString(err, UTF_8).length();
    process.type(String.join(RemoteUser.SEPARATOR, arguments) + "\n");
    List<String> lines = List.of();
    try {
      lines =
          await("the end of " + arguments)
              .atMost(LIMIT)
              .until(this::newLines, printed -> hasEnded(printed) || !process.isAlive());
      linesRead += lines.size();
    } finally {
      if (!hasEnded(lines)) {
        process.close(); // the next program would get the output of this one
      }
    }
    assertThat(lines)
        .as("%s; standard error: %s", arguments, Files.readString(err, UTF_8).substring(errors))
        .endsWith(RemoteUser.DONE);
    return lines.subList(0, lines.size() - 1);
  }

  private static boolean hasEnded(List<String> lines) {
    return lines.contains(RemoteUser.DONE) || lines.contains(RemoteUser.FAILED);
  }

  private List<String> newLines() throws IOException {
    return Files.readString(out, UTF_8).lines().skip(linesRead).toList();
  }

  /** Ends the JVM; nothing of it may be left. */
  void stop() throws IOException, InterruptedException {
    process.closeInput();
    process.awaitExit(LIMIT);
    process.assertNothingLeft();
  }

  /** Kills the JVM if it still runs. */
  @Override
  public void close() {
    process.close();
  }
}
