// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

/** An ascending set of row numbers that can be searched by row and by position. Immutable. */
public interface RowSet {
  /** Result of a search that finds nothing. */
  long NONE = Long.MAX_VALUE;

  long size();

  /** Returns the row after the last; 0 if there is none. */
  long end();

  /** Returns the row at a position in [0, size), not checked. */
  long row(long position);

  /** Returns the first row at or after {@code from}, or {@link #NONE}. */
  long nextRow(long from);

  /** Returns the first number at or after {@code from} that is not a row of the set. */
  long nextGap(long from);

  /** Returns numbers that are equal for equal sets of this form only; not a copy. */
  long[] content();
}
