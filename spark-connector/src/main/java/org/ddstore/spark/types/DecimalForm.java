// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;

/** The form in which decimals are stored. The DataFrame type of the column stays decimal. */
public enum DecimalForm {
  /** The nearest float64, which preserves 15 decimal digits. */
  FLOAT64,
  /**
   * The unscaled value as int64, which preserves all digits: 1234 for 12.34 of {@code
   * DECIMAL(10,2)}. For decimals of at most 18 digits.
   */
  INT64;

  /**
   * {@return the form of a name such as {@code int64}}
   *
   * @param name name of a form, in upper or lower case
   * @throws IllegalArgumentException if no form has the name
   */
  public static DecimalForm parse(String name) {
    Objects.requireNonNull(name, "name is null");
    return Arrays.stream(values())
        .filter(form -> form.name().equalsIgnoreCase(name.strip()))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "\"%s\" is not a form of decimals: choose one of %s"
                        .formatted(name, Arrays.toString(values()))));
  }

  /** Returns the name in lower case. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
