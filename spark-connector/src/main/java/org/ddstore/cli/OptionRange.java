package org.ddstore.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses numbers outside of what an option takes, as an error of usage. */
final class OptionRange {
  private OptionRange() {}

  static void check(CommandSpec command, String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new ParameterException(
          command.commandLine(), "%s: %d outside [%d, %d]".formatted(option, value, least, most));
    }
  }
}
