// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.Arrays;
import java.util.Locale;
import org.ddstore.formats.FormatOptions;

/** Options whose values are the names of the constants of an enum, in any case. */
public final class EnumOption {
  private EnumOption() {}

  /**
   * {@return the value of an option}
   *
   * @param <E> type of the value
   * @param options options of the read
   * @param key key of the option
   * @param byDefault value if the option is not given
   * @param legal constants that the option may name
   * @throws IllegalArgumentException if it names none of them; the message lists them
   */
  @SafeVarargs
  @SuppressWarnings("varargs") // the array is only read
  public static <E extends Enum<E>> E of(
      FormatOptions options, String key, E byDefault, E... legal) {
    String[] names = Arrays.stream(legal).map(EnumOption::name).toArray(String[]::new);
    String name = options.choice(key, name(byDefault), names);
    return Enum.valueOf(byDefault.getDeclaringClass(), name.toUpperCase(Locale.ROOT));
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
