// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.util.Arrays;
import org.ddstore.formats.FormatException;

/**
 * The text in the header of an array: a dictionary of Python with the keys {@code descr}, {@code
 * fortran_order} and {@code shape} in any order. It is parsed in one pass.
 */
final class HeaderText {
  /** The limit of NumPy 2; that of NumPy 1 is 32. */
  private static final int MAX_DIMENSIONS = 64;

  private static final int SHOWN = 40;

  private final String file;
  private final String text;
  private int at;

  private String type;
  private Boolean fortran;
  private long[] shape;

  private HeaderText(String file, String text) {
    this.file = file;
    this.text = text;
  }

  /** Parses a header; {@code file} is its path for messages. */
  static HeaderText parse(String file, String text) {
    HeaderText header = new HeaderText(file, text);
    header.parseEntries();
    return header;
  }

  /** Returns the code of the type, such as {@code <f4}. */
  String type() {
    return type;
  }

  boolean isFortran() {
    return fortran;
  }

  /** Returns the dimensions as they are declared; they may be negative. */
  long[] shape() {
    return shape;
  }

  private void parseEntries() {
    require('{', "'{'");
    while (!accept('}')) {
      String key = text("a key in quotes");
      require(':', "':'");
      switch (key) {
        case "descr" -> type = parseType();
        case "fortran_order" -> fortran = parseTruth();
        case "shape" -> shape = parseShape();
        default -> throw problem("the keys descr, fortran_order and shape only");
      }
      if (!accept(',')) {
        require('}', "',' or '}'");
        break;
      }
    }
    if (peek() != 0) {
      throw problem("the end");
    }
    if (type == null || fortran == null || shape == null) {
      throw problem("the keys descr, fortran_order and shape");
    }
  }

  private String parseType() {
    if ("[({".indexOf(peek()) >= 0) {
      throw FormatException.of(
          file,
          "dtype",
          "structured arrays are not supported: save each field as an array of its own");
    }
    return text("a type in quotes");
  }

  private boolean parseTruth() {
    for (Boolean value : new Boolean[] {true, false}) {
      String word = value ? "True" : "False";
      peek();
      if (text.startsWith(word, at)) {
        at += word.length();
        return value;
      }
    }
    throw problem("True or False");
  }

  private long[] parseShape() {
    require('(', "'('");
    long[] lengths = new long[MAX_DIMENSIONS];
    int count = 0;
    while (!accept(')')) {
      if (count == MAX_DIMENSIONS) {
        throw FormatException.of(
            file, "shape", "the array has more than %d dimensions".formatted(MAX_DIMENSIONS));
      }
      lengths[count] = parseInteger();
      count++;
      if (!accept(',')) {
        require(')', "',' or ')'");
        break;
      }
    }
    return Arrays.copyOf(lengths, count);
  }

  /** Parses an integer; Python 2 writes some with the suffix L. */
  private long parseInteger() {
    peek();
    int from = at;
    if (text.startsWith("-", at)) {
      at++;
    }
    int digits = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == digits) {
      throw problem("an integer");
    }
    try {
      long value = Long.parseLong(text, from, at, 10);
      accept('L');
      return value;
    } catch (NumberFormatException e) {
      at = from;
      throw problem("an integer below 2^63");
    }
  }

  /** Parses a text in quotes, with the prefix that Python 2 gives to Unicode. */
  private String text(String expected) {
    if (peek() == 'u') {
      at++;
    }
    char quote = peek();
    int end = quote == '\'' || quote == '"' ? text.indexOf(quote, at + 1) : -1;
    if (end < 0) {
      throw problem(expected);
    }
    String content = text.substring(at + 1, end);
    at = end + 1;
    return content;
  }

  /** Returns the next character that is not white space, 0 at the end. */
  private char peek() {
    while (at < text.length() && " \t\n\r\f".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private boolean accept(char wanted) {
    boolean found = peek() == wanted;
    at += found ? 1 : 0;
    return found;
  }

  private void require(char wanted, String expected) {
    if (!accept(wanted)) {
      throw problem(expected);
    }
  }

  private FormatException problem(String expected) {
    int from = Math.max(0, Math.min(at, text.length()) - SHOWN);
    String shown = text.substring(from, Math.min(text.length(), at + SHOWN));
    return FormatException.of(
        file,
        "header",
        "not a description of an array: expected %s at character %,d, near \"%s\""
            .formatted(expected, at, Excerpt.of(shown)));
  }
}
