// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;

/** The part of NumPy arrays that forms a row. */
enum RowLayout {
  /** An index of the first axis of an array. */
  ROWS,
  /** All of a file. */
  SAMPLES,
  /** An index of the first axis of all arrays of a folder, each of which is a column. */
  COLUMNS;

  /**
   * Returns the layout that the options choose, {@link #ROWS} by default.
   *
   * @throws IllegalArgumentException if it is not one of {@code legal}
   */
  static RowLayout of(FormatOptions options, String... legal) {
    return switch (options.choice(FormatOptionKeys.LAYOUT, "rows", legal)) {
      case "samples" -> SAMPLES;
      case "columns" -> COLUMNS;
      default -> ROWS;
    };
  }
}
