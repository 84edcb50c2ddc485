// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Checks of numeric options, which report values out of range as usage errors. */
public final class OptionRange {
  private static final double MAX_SECONDS = 3600;

  private OptionRange() {}

  public static void check(CommandSpec command, String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new ParameterException(
          command.commandLine(), "%s: %d outside [%d, %d]".formatted(option, value, min, max));
    }
  }

  public static void checkAll(
      CommandSpec command, String option, List<Integer> values, long min, long max) {
    values.forEach(value -> check(command, option, value, min, max));
  }

  /** Checks the option {@code --seconds}: above 0, at most an hour. */
  public static void checkSeconds(CommandSpec command, double seconds) {
    if (!(seconds > 0 && seconds <= MAX_SECONDS)) { // also if it is not a number
      throw new ParameterException(
          command.commandLine(), "--seconds: %s outside (0, %.0f]".formatted(seconds, MAX_SECONDS));
    }
  }
}
