// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A text in a source file that becomes the message of an exception or a line of the log.
 *
 * @param place file and line
 * @param text text with {@link #VALUE} in place of values of expressions
 */
record PageMessage(String place, String text) {
  /** Stands for the value of an expression between two literals. */
  static final String VALUE = "%s";

  /** The signs that {@code String.format} and loggers replace by values. */
  private static final Pattern PLACEHOLDER =
      Pattern.compile("%(?:\\d+\\$)?[-#+ 0,(]*\\d*(?:\\.\\d+)?[a-zA-Z]|\\{\\d*}");

  private static final Pattern BETWEEN_WORDS = Pattern.compile("[^\\p{L}\\p{Nd}_.]+");

  /** Returns the literal parts of the text, between its placeholders. */
  private List<String> parts() {
    return Arrays.stream(PLACEHOLDER.split(oneLine(text.replace("%%", "%"))))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }

  /**
   * Returns whether the text can be searched for. A single word is a name that other texts contain,
   * such as that of an attribute of a file.
   */
  boolean isSearchable() {
    return parts().stream()
            .flatMap(part -> Arrays.stream(BETWEEN_WORDS.split(part)))
            .filter(word -> word.length() > 1)
            .count()
        > 1;
  }

  /** Returns whether a text contains the literal parts in their order. */
  boolean isIn(String other) {
    String regex = parts().stream().map(Pattern::quote).collect(Collectors.joining(".*"));
    return Pattern.compile(regex).matcher(other).find();
  }

  /**
   * Returns whether the text is of a form.
   *
   * @param form text with {@code %s} in place of any text
   */
  boolean hasForm(String form) {
    String regex =
        Arrays.stream(form.split("%s", -1)).map(Pattern::quote).collect(Collectors.joining(".+"));
    return oneLine(text).matches(regex);
  }

  /** Returns a text with single spaces in place of line breaks and runs of spaces. */
  static String oneLine(String text) {
    return text.replaceAll("\\s+", " ");
  }

  @Override
  public String toString() {
    return "%s: \"%s\"".formatted(place, text);
  }
}
