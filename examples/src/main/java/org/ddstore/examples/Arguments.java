package org.ddstore.examples;

import java.util.List;

/** What the examples share in reading their arguments. */
final class Arguments {
  private Arguments() {}

  /**
   * The number at a place.
   *
   * @throws IllegalArgumentException if there is none of [least, most]; names the option
   */
  static long number(String option, List<String> arguments, int at, long least, long most) {
    String value = at < arguments.size() ? arguments.get(at) : "";
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused below, with the legal range.
    }
    throw new IllegalArgumentException(
        "%s '%s' is not a number of [%d, %d]".formatted(option, value, least, most));
  }
}
