// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.commons.text.similarity.JaroWinklerSimilarity;
import org.apache.spark.sql.AnalysisException;
import org.ddstore.local.Colour;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Interruption;
import org.ddstore.local.Output;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The handlers of a parser that report an error of a command in one line. */
public final class ErrorReport {
  private static final double MIN_SIMILARITY = 0.75;

  private ErrorReport() {}

  /**
   * Prints the message of a failure; {@link Output#VERBOSE} adds the stack trace.
   *
   * @return the exit code
   */
  public static int print(Exception failure, CommandLine command, ParseResult arguments) {
    if (Interruption.hasCome()) {
      return CommandLine.ExitCode.SOFTWARE; // not the command has failed
    }
    PrintWriter err = command.getErr();
    err.println(Colour.of("ddstore: " + withOptions(message(failure), command)));
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

  /** Returns a message with the options of a command in place of the settings of Spark. */
  static String withOptions(String message, CommandLine command) {
    if (EmbeddedSpark.isSubmitted() || command.getCommandSpec().findOption("--ranks") == null) {
      return message;
    }
    return message
        .replace(
            "spark.ddstore.backing=file with spark.ddstore.directory on a disk", "--backing file")
        .replaceAll("spark\\.ddstore\\.(backing|ranks|width|transport)\\b=?", "--$1 ")
        .replaceAll("(--(?:backing|ranks|width|transport)) (?=\\W|$)", "$1")
        .replaceAll("spark\\.(executor|driver)\\.memory\\b", "--memory");
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
    command.getErr().println(Colour.of("ddstore: " + usageMessage(failure)));
    if (!isUnknownCommand(failure)) {
      UnmatchedArgumentException.printSuggestions(failure, command.getErr());
    }
    command.getErr().println("See ./%s --help".formatted(command.getCommandSpec().qualifiedName()));
    return CommandLine.ExitCode.USAGE;
  }

  /** Returns the first argument that the command does not know; empty if that is an option. */
  private static Optional<String> unknownArgument(ParameterException failure) {
    return failure instanceof UnmatchedArgumentException unmatched
        ? unmatched.getUnmatched().stream().limit(1).filter(name -> !name.startsWith("-")).findAny()
        : Optional.empty();
  }

  private static boolean isUnknownCommand(ParameterException failure) {
    return failure.getCommandLine().getParent() == null && unknownArgument(failure).isPresent();
  }

  private static String usageMessage(ParameterException failure) {
    Optional<String> unknown = unknownArgument(failure);
    if (isUnknownCommand(failure)) {
      String given = unknown.get();
      Set<String> known = new TreeSet<>(failure.getCommandLine().getSubcommands().keySet());
      known.addAll(Main.LAUNCHER_COMMANDS);
      return "unknown command \"%s\"%s"
          .formatted(given, nearest(given, known).map(": did you mean %s?"::formatted).orElse(""));
    }
    if (unknown.isPresent()) {
      return "unknown argument \"%s\"".formatted(unknown.get());
    }
    return failure
        .getMessage()
        .replace("option option", "option") // of picocli
        .replaceFirst(" is not an? (int|long|short|byte)$", " is not a whole number")
        .replaceFirst(" is not an? (double|float)$", " is not a number");
  }

  /** Returns the most similar name, if it is similar at all. */
  private static Optional<String> nearest(String given, Set<String> names) {
    JaroWinklerSimilarity similarity = new JaroWinklerSimilarity();
    return names.stream()
        .max(Comparator.comparingDouble(name -> similarity.apply(given, name)))
        .filter(name -> similarity.apply(given, name) >= MIN_SIMILARITY);
  }
}
