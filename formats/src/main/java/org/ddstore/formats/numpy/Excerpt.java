// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

/** Text from a file in a message: short, and in one line. */
final class Excerpt {
  private static final int MAX_LENGTH = 100;

  private Excerpt() {}

  static String of(String text) {
    String start = text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) + ".." : text;
    return start.replaceAll("\\p{Cntrl}+", " ").strip();
  }
}
