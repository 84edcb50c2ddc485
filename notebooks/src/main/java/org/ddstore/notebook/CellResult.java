// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

/**
 * The value of the last expression of a cell.
 *
 * @param isShown whether the cell ends with an expression whose value is to be shown
 * @param value value of the expression, may be null; null if there is none
 */
record CellResult(boolean isShown, Object value) {
  static final CellResult NONE = new CellResult(false, null);
}
