// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.List;
import java.util.Objects;

/**
 * The class of each row of a store, by the values of a column: class c has the value {@code
 * names().get(c)}. Values are in ascending order, numbers by size and texts by {@link
 * String#compareTo}. Immutable.
 */
public final class RowClasses {
  private final List<String> names;
  private final int[] labels;

  RowClasses(List<String> names, int... labels) {
    this.names = List.copyOf(names);
    this.labels = labels;
  }

  /** {@return a copy of the class of each row, from 0, for a class-balanced sampler} */
  public int[] labels() {
    return labels.clone();
  }

  /** {@return the value of each class as text} */
  public List<String> names() {
    return names;
  }

  /**
   * {@return the class of a value}
   *
   * @param value value of the column as text, such as {@code "3"} or {@code "T cell"}
   * @throws IllegalArgumentException if no row has the value; the message names the first values
   */
  public int label(String value) {
    Objects.requireNonNull(value, "value is null");
    int label = names.indexOf(value);
    if (label < 0) {
      throw new IllegalArgumentException("no row has the class \"%s\": %s".formatted(value, this));
    }
    return label;
  }

  @Override
  public String toString() {
    return "RowClasses[%,d rows, %,d classes: %s%s]"
        .formatted(
            labels.length,
            names.size(),
            String.join(", ", names.subList(0, Math.min(names.size(), 8))),
            names.size() > 8 ? ", .." : "");
  }
}
