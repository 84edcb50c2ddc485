// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** A JSON object (RFC 8259) whose members are texts and whole numbers, as states need. */
final class FlatJson {
  private final String text;
  private int at;

  private FlatJson(String text) {
    this.text = text;
  }

  static String write(Map<String, Object> members) {
    StringBuilder json = new StringBuilder("{");
    members.forEach(
        (name, value) -> {
          json.append(json.length() > 1 ? "," : "");
          quote(json, name);
          json.append(':');
          if (value instanceof Long) {
            json.append(value);
          } else {
            quote(json, (String) value);
          }
        });
    return json.append('}').toString();
  }

  private static void quote(StringBuilder json, String value) {
    json.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ') {
        json.append("\\u%04x".formatted((int) c));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }

  /** Parses an object of texts and whole numbers; throws an exception for others. */
  static Map<String, Object> read(String json) {
    return new FlatJson(json).object();
  }

  private Map<String, Object> object() {
    Map<String, Object> members = new LinkedHashMap<>();
    take('{');
    for (boolean first = true; !ends('}'); first = false) {
      if (!first) {
        take(',');
      }
      String name = string();
      take(':');
      members.put(name, peek() == '"' ? string() : (Object) number());
    }
    take('}');
    peek();
    if (at < text.length()) {
      throw refused();
    }
    return members;
  }

  private boolean ends(char c) {
    return peek() == c;
  }

  /** Returns the next character that is not white space; 0 at the end. */
  private char peek() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private void take(char c) {
    if (peek() != c) {
      throw refused();
    }
    at++;
  }

  private long number() {
    int from = at;
    while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    try {
      return Long.parseLong(text.substring(from, at));
    } catch (NumberFormatException e) {
      at = from;
      throw refused();
    }
  }

  private String string() {
    take('"');
    StringBuilder value = new StringBuilder();
    while (at < text.length() && text.charAt(at) != '"') {
      value.append(text.charAt(at) == '\\' ? escape() : text.charAt(at++));
    }
    take('"');
    return value.toString();
  }

  private char escape() {
    at++;
    char c = at < text.length() ? text.charAt(at++) : 0;
    int plain = "\"\\/bfnrt".indexOf(c);
    if (plain >= 0) {
      return "\"\\/\b\f\n\r\t".charAt(plain);
    }
    if (c != 'u') {
      throw refused();
    }
    try {
      at += 4;
      return (char) HexFormat.fromHexDigits(text, at - 4, at);
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw refused();
    }
  }

  private IllegalArgumentException refused() {
    return new IllegalArgumentException(
        "not a JSON object of texts and whole numbers at character %d of: %s".formatted(at, text));
  }
}
