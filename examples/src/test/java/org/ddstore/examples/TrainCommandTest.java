// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TrainCommandTest {
  private static TrainCommand parse(String... arguments) {
    TrainCommand command = new TrainCommand();
    ExampleArguments.parser(command).parseArgs(arguments);
    command.checkRanges();
    return command;
  }

  @Test
  void parsesOptionsInAnyOrder() {
    TrainCommand defaults = parse();
    assertThat(defaults.rows()).isEqualTo(10_000);
    assertThat(defaults.epochs()).isEqualTo(5);
    assertThat(defaults.isJson()).isFalse();

    TrainCommand given = parse("--json", "--epochs", "2", "--rows", "500");
    assertThat(given.rows()).isEqualTo(500);
    assertThat(given.epochs()).isEqualTo(2);
    assertThat(given.isJson()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--rows 127", "--rows many", "--epochs 0", "--epochs", "--ranks 3"})
  void namesTheRejectedOption(String arguments) {
    CommandLines.assertRefused(TrainCommandTest::parse, arguments);
  }

  @Test
  void namesTheLegalRange() {
    assertThatThrownBy(() -> parse("--rows", "127"))
        .hasMessage("--rows: 127 outside [128, 2147483647]");
  }

  @Test
  void rejectedArgumentPrintsTheErrorAndTheHelpCommand() {
    StringWriter err = new StringWriter();
    int exitCode =
        ExampleArguments.parser(new TrainCommand())
            .setErr(new PrintWriter(err))
            .execute("--rows", "127");

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsExactly(
            "ddstore: --rows: 127 outside [128, 2147483647]", "See ./ddstore example train --help");
  }

  @Test
  void helpNamesEveryOption() {
    assertThat(CommandLines.output(new TrainCommand(), "--json", "--help"))
        .startsWith("Usage: ddstore example train")
        .contains(
            "--rows=N",
            "; 10000 by default",
            "--epochs=N",
            "; 5 by default",
            "--json",
            "--verbose");
  }
}
