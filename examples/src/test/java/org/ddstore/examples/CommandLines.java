// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;
import picocli.CommandLine.ParameterException;

/** Checks that the tests of all example commands share. */
final class CommandLines {
  private CommandLines() {}

  /**
   * Checks that a parser refuses a command line and names its first word.
   *
   * @param line arguments, separated by spaces
   */
  static void assertRefused(Consumer<String[]> parser, String line) {
    String[] words = line.split(" ", -1);
    assertThatThrownBy(() -> parser.accept(words))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(words[0]);
  }

  /** Returns the output of a command that succeeds. */
  static String output(Object command, String... arguments) {
    StringWriter out = new StringWriter();
    int exitCode = ExampleArguments.parser(command).setOut(new PrintWriter(out)).execute(arguments);
    assertThat(exitCode).isZero();
    return out.toString();
  }
}
