// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** The form of a word that agrees with a number, for messages. */
@Internal
public final class Plural {
  private Plural() {}

  /**
   * {@return a number with thousands separators and a noun, such as {@code 1 rank} or {@code 2
   * ranks}}
   *
   * @param count number of things
   * @param noun singular, whose plural has an {@code s}
   */
  public static String of(long count, String noun) {
    return of(count, noun, noun + "s");
  }

  /**
   * {@return a number with thousands separators and the words that agree with it}
   *
   * @param count number of things
   * @param one words after 1, such as {@code rank needs}
   * @param several words after any other number, such as {@code ranks need}
   */
  public static String of(long count, String one, String several) {
    return "%,d %s".formatted(count, count == 1 ? one : several);
  }
}
