// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

/**
 * Thrown inside the package for metadata that are illegal or unsupported, before the path is known.
 */
final class Unsupported extends Exception {
  private static final long serialVersionUID = 1L;

  private final String field;

  /**
   * @param field part of the metadata
   * @param problem what is wrong with it, and what is supported
   */
  Unsupported(String field, String problem) {
    super(problem);
    this.field = field;
  }

  String field() {
    return field;
  }
}
