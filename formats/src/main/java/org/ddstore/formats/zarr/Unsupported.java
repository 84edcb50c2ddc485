// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

/**
 * Thrown inside the package for metadata that are illegal or unsupported, before the path is known.
 */
final class Unsupported extends Exception {
  private static final long serialVersionUID = 1L;

  /** Number of characters that a message keeps of each end of a long problem. */
  private static final int SHOWN = 300;

  private final String field;

  /**
   * @param field part of the metadata
   * @param problem what is wrong with it, and what is supported; its middle is left out if the
   *     metadata make it long
   */
  Unsupported(String field, String problem) {
    super(
        problem.length() <= 2 * SHOWN
            ? problem
            : problem.substring(0, SHOWN) + " .. " + problem.substring(problem.length() - SHOWN));
    this.field = field;
  }

  String field() {
    return field;
  }
}
