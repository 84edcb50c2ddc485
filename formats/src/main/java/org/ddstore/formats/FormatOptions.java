// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The options of a read, in the words of the caller. Keys are not case-sensitive. */
public final class FormatOptions implements Serializable {
  private static final long serialVersionUID = 1L;

  private final TreeMap<String, String> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  /**
   * Copies options.
   *
   * @param values values by key
   */
  public FormatOptions(Map<String, String> values) {
    this.values.putAll(values);
  }

  /**
   * Checks the keys.
   *
   * @param reader what reads with the options, such as {@code format "npy"}
   * @param legal legal keys
   * @throws IllegalArgumentException if a key is not legal; the message lists the legal ones
   */
  public void requireKeys(String reader, Set<String> legal) {
    Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    known.addAll(legal);
    for (String key : values.keySet()) {
      if (!known.contains(key)) {
        throw new IllegalArgumentException(
            "option \"%s\" is unknown to %s; legal options: %s".formatted(key, reader, known));
      }
    }
  }

  /**
   * {@return the value of an option without spaces at its ends; empty if it is not given}
   *
   * @param key key of the option
   */
  public Optional<String> text(String key) {
    return Optional.ofNullable(values.get(key)).map(String::strip);
  }

  /**
   * {@return the value of an option with few legal values, in lower case}
   *
   * @param key key of the option
   * @param byDefault value if the option is not given
   * @param legal legal values
   * @throws IllegalArgumentException if the value is not legal
   */
  public String choice(String key, String byDefault, String... legal) {
    String value = text(key).orElse(byDefault);
    return Arrays.stream(legal)
        .filter(value::equalsIgnoreCase)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "option \"%s\" is \"%s\"; legal values: %s"
                        .formatted(key, value, String.join(", ", legal))));
  }

  /**
   * {@return the value of an option that is an integer}
   *
   * @param key key of the option
   * @param byDefault value if the option is not given
   * @param min smallest legal value
   * @param max largest legal value
   * @throws IllegalArgumentException if the value is not an integer, or outside [min, max]
   */
  public long integer(String key, long byDefault, long min, long max) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return byDefault;
    }
    try {
      long value = Long.parseLong(text.get());
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // reported below, as for numbers outside the range
    }
    throw new IllegalArgumentException(
        "option \"%s\" is \"%s\", not an integer in [%d, %d]".formatted(key, text.get(), min, max));
  }

  /**
   * {@return the value of an option that is true or false}
   *
   * @param key key of the option
   * @param byDefault value if the option is not given
   * @throws IllegalArgumentException if the value is neither
   */
  public boolean flag(String key, boolean byDefault) {
    return Boolean.parseBoolean(choice(key, String.valueOf(byDefault), "true", "false"));
  }

  /**
   * {@return the parts of a value that is a list, separated by commas; empty if it is not given}
   *
   * @param key key of the option
   */
  public List<String> list(String key) {
    return text(key)
        .filter(text -> !text.isEmpty())
        .map(text -> List.of(text.split("\\s*,\\s*")))
        .orElse(List.of());
  }

  /**
   * {@return the value of an option that is a shape, such as {@code 64,64}; empty if it is not
   * given}
   *
   * @param key key of the option
   * @throws IllegalArgumentException if a part is not an integer of at least 1
   */
  public Optional<int[]> shape(String key) {
    if (text(key).isEmpty()) {
      return Optional.empty();
    }
    try {
      int[] shape = list(key).stream().mapToInt(Integer::parseInt).toArray();
      if (shape.length > 0 && Arrays.stream(shape).allMatch(length -> length >= 1)) {
        return Optional.of(shape);
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException(
        "option \"%s\" is \"%s\", not a shape such as 64,64".formatted(key, text(key).get()));
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
