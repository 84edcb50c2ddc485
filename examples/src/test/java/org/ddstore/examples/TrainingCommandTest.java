// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The command lines of the examples {@code train}, {@code graph} and {@code sparse}. */
class TrainingCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  static Stream<Arguments> commands() {
    return Stream.of(
        arguments(TrainCommand.command(), 128, 10_000),
        arguments(Graph.command(), 500, 4000),
        arguments(Sparse.command(), 500, 4000));
  }

  private int execute(CommandLine command, String... line) {
    return command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(line);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void refuseIllegalArgumentsInOneLine(CommandLine command, int minRows) {
    assertThat(execute(command, "--rows", Integer.toString(minRows - 1))).isEqualTo(2);
    assertThat(execute(command, "--epochs", "0")).isEqualTo(2);
    assertThat(execute(command, "--ranks", "3")).isEqualTo(2);
    assertThat(err.toString().lines())
        .contains("ddstore: --rows: %d outside [%d, 2147483647]".formatted(minRows - 1, minRows))
        .contains("ddstore: --epochs: 0 outside [1, 10000]")
        .contains("See ./%s --help".formatted(command.getCommandName()));
    assertThat(err.toString()).contains("Unknown options: '--ranks', '3'");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void helpNamesEveryOption(CommandLine command, int minRows, int rows) {
    assertThat(execute(command, "--help")).isZero();
    assertThat(out.toString())
        .startsWith("Usage: " + command.getCommandName())
        .contains(
            "--rows=N",
            "; %d by default".formatted(rows),
            "--epochs=N",
            "; 5 by default",
            "--json",
            "--verbose");
  }
}
