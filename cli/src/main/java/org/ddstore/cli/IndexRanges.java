// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Indices in the user's notation, with ranges that include both ends: {@code 0,5,10-19}.
 *
 * @param indices all indices, in that order
 */
record IndexRanges(List<Long> indices) {
  private static final Pattern PART = Pattern.compile("(-?\\d{1,18})(?:-(\\d{1,18}))?");
  private static final int MAX_INDICES = 100_000;

  static IndexRanges parse(String text) {
    List<Long> parts = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher match = PART.matcher(part.strip());
      if (!match.matches()) {
        throw new IllegalArgumentException(
            "\"%s\" in \"%s\" is neither an index nor a range such as 0-9".formatted(part, text));
      }
      long first = Long.parseLong(match.group(1));
      long last = match.group(2) == null ? first : Long.parseLong(match.group(2));
      if (last < first) {
        throw new IllegalArgumentException("range %s ends before it starts".formatted(part));
      }
      if (last - first >= MAX_INDICES - parts.size()) {
        throw new IllegalArgumentException("more than %,d indices".formatted(MAX_INDICES));
      }
      LongStream.rangeClosed(first, last).forEach(parts::add);
    }
    return new IndexRanges(List.copyOf(parts));
  }

  /** A converter for picocli, which reports a failure as a usage error. */
  static final class Converter implements ITypeConverter<IndexRanges> {
    @Override
    public IndexRanges convert(String text) {
      try {
        return parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
