// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.PrintWriter;
import java.util.Objects;
import org.apache.spark.sql.AnalysisException;
import org.ddstore.local.Output;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The handlers of a parser that report an error of a command in one line. */
public final class ErrorReport {
  private ErrorReport() {}

  /**
   * Prints the message of a failure; {@link Output#VERBOSE} adds the stack trace.
   *
   * @return the exit code
   */
  public static int print(Exception failure, CommandLine command, ParseResult arguments) {
    PrintWriter err = command.getErr();
    err.println("ddstore: " + message(failure));
    if (arguments.hasMatchedOption(Output.VERBOSE)) {
      failure.printStackTrace(err);
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  /** Returns our messages in full, and the first line of others, which may contain a plan. */
  private static String message(Exception failure) {
    String message = Objects.requireNonNullElse(failure.getMessage(), "");
    if (failure instanceof DDStoreException || failure instanceof IllegalArgumentException) {
      return message;
    }
    String line = firstLine(failure);
    return failure instanceof AnalysisException
        ? line
        : "%s: %s (%s prints the stack trace)"
            .formatted(failure.getClass().getSimpleName(), line, Output.VERBOSE);
  }

  /** Returns the first line of a message, without punctuation that announces a next one. */
  static String firstLine(Exception failure) {
    String message = Objects.requireNonNullElse(failure.getMessage(), "");
    return message.lines().findFirst().orElse("").replaceAll("[;\\s]+$", "");
  }

  /**
   * Prints an illegal argument, and the command of the help instead of the long list of options.
   *
   * @return the exit code
   */
  public static int printUsage(ParameterException failure, String... arguments) {
    CommandLine command = failure.getCommandLine();
    String message = failure.getMessage().replace("option option", "option"); // of picocli
    command.getErr().println("ddstore: " + message);
    UnmatchedArgumentException.printSuggestions(failure, command.getErr());
    command.getErr().println("See ./%s --help".formatted(command.getCommandSpec().qualifiedName()));
    return CommandLine.ExitCode.USAGE;
  }
}
