// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import java.util.Arrays;

/** A set of rows as runs of consecutive rows. Takes 24 bytes per run. */
public final class RowRuns implements RowSet {
  private final long[] bounds;
  private final long[] positions;

  /**
   * @param bounds first row and end of each run, ascending and with gaps between runs; not copied
   */
  RowRuns(long... bounds) {
    this.bounds = bounds;
    this.positions = new long[bounds.length / 2 + 1];
    for (int run = 0; run < bounds.length / 2; run++) {
      positions[run + 1] = positions[run] + bounds[2 * run + 1] - bounds[2 * run];
    }
  }

  public int runs() {
    return bounds.length / 2;
  }

  @Override
  public long size() {
    return positions[positions.length - 1];
  }

  @Override
  public long end() {
    return bounds.length == 0 ? 0 : bounds[bounds.length - 1];
  }

  @Override
  public long row(long position) {
    if (bounds.length == 2) {
      return bounds[0] + position;
    }
    int found = Arrays.binarySearch(positions, position);
    int run = found >= 0 ? found : -found - 2;
    return bounds[2 * run] + position - positions[run];
  }

  /** Returns the index of the first bound above a row: odd within a run, even between runs. */
  private int above(long row) {
    int found = Arrays.binarySearch(bounds, row);
    return found >= 0 ? found + 1 : -found - 1;
  }

  @Override
  public long nextRow(long from) {
    int bound = above(from);
    if (bound % 2 == 1) {
      return from;
    }
    return bound < bounds.length ? bounds[bound] : NONE;
  }

  @Override
  public long nextGap(long from) {
    int bound = above(from);
    return bound % 2 == 1 ? bounds[bound] : from;
  }

  @Override
  public long[] content() {
    return bounds;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowRuns runs && Arrays.equals(runs.bounds, bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }
}
