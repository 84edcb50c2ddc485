// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Java source whose comments are of no interest.
 *
 * @param source source, which may be illegal
 */
record JavaText(String source) {
  private static final Pattern TOKEN =
      Pattern.compile(
          "(?<comment>//[^\\n]*|/\\*(?s:.*?)\\*/)"
              + "|\"\"\"(?s:(?:\\\\.|.)*?)\"\"\""
              + "|\"(?:\\\\.|[^\"\\\\\\n])*\""
              + "|'(?:\\\\.|[^'\\\\\\n])*'"
              + "|\\S");

  /** Returns whether there is no code. */
  boolean isBlank() {
    return lastCharacter() == 0;
  }

  /** Returns the last character of the code; 0 if there is none. */
  char lastCharacter() {
    char last = 0;
    for (Matcher token = TOKEN.matcher(source); token.find(); ) {
      if (token.group("comment") == null) {
        last = source.charAt(token.end() - 1);
      }
    }
    return last;
  }
}
