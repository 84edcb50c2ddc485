// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import org.ddstore.cli.ErrorReport;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The argument parser and checks of the example commands. */
public final class ExampleArguments {
  /** System property set by the launcher. */
  private static final String CHECK_ONLY = "ddstore.example.checkOnly";

  private ExampleArguments() {}

  /** The option that all examples have. */
  private static final class Help {
    @SuppressWarnings("UnusedVariable") // Read by the parser, which prints the help.
    @Option(
        names = {"-h", "--help"},
        usageHelp = true,
        description = "Show this help message and exit.")
    private boolean isHelp;
  }

  /**
   * Returns a parser of a command that uses Spark. It reports an illegal argument and a failure in
   * one line each. Adds the option {@code --help}.
   */
  public static CommandLine parser(Object command) {
    return parserWithoutSpark(command).setExecutionExceptionHandler(ErrorReport::print);
  }

  /**
   * Returns a parser of a command whose class path has neither Spark nor the command line. It
   * reports an illegal argument in one line. Adds the option {@code --help}.
   */
  static CommandLine parserWithoutSpark(Object command) {
    return new CommandLine(command)
        .addMixin("help", new Help())
        .setParameterExceptionHandler(ExampleArguments::report);
  }

  /**
   * Returns whether the launcher asks only for a check of the arguments, before it downloads
   * PyTorch. The command then exits with 0.
   */
  public static boolean isCheckOnly() {
    return Boolean.getBoolean(CHECK_ONLY);
  }

  private static int report(ParameterException failure, String... arguments) {
    CommandLine command = failure.getCommandLine();
    command.getErr().println("ddstore: " + failure.getMessage());
    UnmatchedArgumentException.printSuggestions(failure, command.getErr());
    command.getErr().println("See ./%s --help".formatted(command.getCommandSpec().qualifiedName()));
    return CommandLine.ExitCode.USAGE;
  }

  /**
   * Checks the value of an option.
   *
   * @throws ParameterException if the value is outside [{@code min}, {@code max}]
   */
  public static void checkRange(
      CommandSpec command, String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new ParameterException(
          command.commandLine(), "%s: %d outside [%d, %d]".formatted(option, value, min, max));
    }
  }
}
