// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A setting in the code of a page.
 *
 * @param place page and line, or the code in a sentence
 * @param key key of the setting
 * @param value value; empty if the code has none, or one that stands for another
 */
record PageSetting(String place, String key, Optional<String> value) {
  private static final String KEY = "(spark\\.[\\w.-]+)";

  /** The forms of a setting in programs: key and value are the first two groups that match. */
  private static final Pattern IN_PROGRAM =
      Pattern.compile(
          String.join(
              "|",
              "--conf[= ]\"" + KEY + "=([^\"]*)\"",
              "--conf[= ]'" + KEY + "=([^']*)'",
              "--conf[= ]" + KEY + "=([^\\s\"']*)",
              "(?m)^" + KEY + "(?:[ \\t]*=[ \\t]*|[ \\t]+)(\\S+)",
              "(?:config|set)\\(\\s*\"" + KEY + "\",\\s*\"?([^\")]*)",
              "(?i)\\bSET " + KEY + "\\s*=\\s*([^\\s;]+)"));

  private static final Pattern IN_SENTENCE = Pattern.compile(KEY + "(?:=(\\S*))?");

  /** Parts of values that stand for others: {@code $NAME}, {@code %s}, {@code ..}. */
  private static final Pattern STAND_IN = Pattern.compile("[$%<]|\\.\\.|\\b[A-Z]{2,}\\b");

  private static PageSetting of(String place, String key, String value) {
    Optional<String> literal =
        Optional.ofNullable(value).filter(text -> !STAND_IN.matcher(text).find());
    return new PageSetting(place, key, literal);
  }

  /** Returns the settings in a block of code. */
  static List<PageSetting> of(Page.Block block) throws IOException {
    List<PageSetting> settings = new ArrayList<>();
    if (block.language().equals("properties")) {
      Properties properties = new Properties();
      properties.load(new StringReader(block.code()));
      properties.forEach((key, value) -> settings.add(of(block.toString(), "" + key, "" + value)));
      return settings;
    }
    Matcher matcher = IN_PROGRAM.matcher(block.code());
    while (matcher.find()) {
      int group = 1;
      while (matcher.group(group) == null) {
        group += 2;
      }
      settings.add(of(block.toString(), matcher.group(group), matcher.group(group + 1)));
    }
    return settings;
  }

  /**
   * Returns the setting that code in a sentence or in a table is; empty if it is something else.
   */
  static Optional<PageSetting> ofSentence(String place, String code) {
    Matcher matcher = IN_SENTENCE.matcher(code);
    return matcher.matches()
        ? Optional.of(of(place, matcher.group(1), matcher.group(2)))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return "%s: %s%s".formatted(place, key, value.map(text -> "=" + text).orElse(""));
  }
}
