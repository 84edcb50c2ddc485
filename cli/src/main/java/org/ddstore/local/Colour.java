// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.util.Map;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Style;

/**
 * The colours of marks at the begin of lines, on a terminal; none if the environment has {@code
 * NO_COLOR} (no-color.org), as for the help.
 */
public final class Colour {
  private static final Map<String, Style> MARKS =
      Map.of(
          "WARNING", Style.fg_yellow,
          "PROBLEM", Style.fg_red,
          "ddstore:", Style.fg_red,
          "Next", Style.bold);

  private Colour() {}

  /** Returns a line, with the colour of its first word if that is a mark. */
  public static String of(String line) {
    return of(line, Ansi.AUTO.enabled());
  }

  static String of(String line, boolean isEnabled) {
    int end = line.indexOf(' ');
    Style style = end < 0 ? null : MARKS.get(line.substring(0, end));
    return isEnabled && style != null
        ? style.on() + line.substring(0, end) + Style.reset.on() + line.substring(end)
        : line;
  }
}
