// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The command lines of the examples {@code graph} and {@code sparse}. */
class TrainingCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  static Stream<CommandLine> commands() {
    return Stream.of(Graph.command(), Sparse.command());
  }

  private int execute(CommandLine command, String... arguments) {
    return command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(arguments);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void refuseIllegalArgumentsInOneLine(CommandLine command) {
    assertThat(execute(command, "--rows", "499")).isEqualTo(2);
    assertThat(execute(command, "--epochs", "0")).isEqualTo(2);
    assertThat(execute(command, "--ranks", "3")).isEqualTo(2);
    assertThat(err.toString().lines())
        .contains("ddstore: --rows: 499 outside [500, 2147483647]")
        .contains("ddstore: --epochs: 0 outside [1, 10000]")
        .contains("See ./%s --help".formatted(command.getCommandName()));
    assertThat(err.toString()).contains("Unknown options: '--ranks', '3'");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void helpNamesEveryOption(CommandLine command) {
    assertThat(execute(command, "--help")).isZero();
    assertThat(out.toString())
        .startsWith("Usage: " + command.getCommandName())
        .contains(
            "--rows=N", "; 4000 by default", "--epochs=N", "; 5 by default", "--json", "--verbose");
  }
}
