// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.Serializable;

/**
 * The place of the values of a column.
 *
 * @param part part of the file
 * @param name name in this part, such as that of a column of obs; for a matrix its path
 */
record ColumnSource(Part part, String name) implements Serializable {
  /** Parts of a file, and forms of a matrix. */
  enum Part {
    /** The index of obs. */
    NAMES,
    /** A column of obs. */
    OBS,
    /** An array of obsm. */
    OBSM,
    /** A matrix, with a value for each gene. */
    DENSE,
    /** The genes whose values a matrix stores. */
    INDICES,
    /** The values that a matrix stores. */
    VALUES;

    boolean isTable() {
      return this == NAMES || this == OBS;
    }
  }

  /** Returns the place in the file, for messages. */
  String place() {
    return switch (part) {
      case NAMES -> "obs";
      case OBS -> "obs/" + name;
      case OBSM -> "obsm/" + name;
      case DENSE, INDICES, VALUES -> name;
    };
  }
}
