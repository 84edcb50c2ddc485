// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A check of numeric options, which reports values out of range as usage errors. */
public final class OptionRange {
  private OptionRange() {}

  public static void check(CommandSpec command, String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new ParameterException(
          command.commandLine(), "%s: %d outside [%d, %d]".formatted(option, value, least, most));
    }
  }
}
