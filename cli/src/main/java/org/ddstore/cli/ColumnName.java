// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;

/** A converter for picocli of the name of a column: plain, or in backquotes as in SQL. */
final class ColumnName implements ITypeConverter<String> {
  private static final Pattern QUOTED = Pattern.compile("(?<=^|\\.)`((?:[^`]|``)+)`(?=\\.|$)");

  static String plain(String name) {
    return QUOTED
        .matcher(name)
        .replaceAll(part -> Matcher.quoteReplacement(part.group(1).replace("``", "`")));
  }

  @Override
  public String convert(String name) {
    return plain(name);
  }
}
