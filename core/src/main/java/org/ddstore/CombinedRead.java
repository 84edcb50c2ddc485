// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.read.RecordGather;
import org.ddstore.types.Schema;

/** The read of several batches as one: the rows of a process are requested together, once each. */
record CombinedRead(Schema schema, RowLocator locator, RecordGather gather, ReadCounters counters) {
  /** Fills batches with checked rows; returns false if each has to be read on its own. */
  boolean fill(Placement placement, long[] checked, Batch[] batches, int... starts) {
    int all = starts[batches.length];
    if (!placement.hasRemote() || all > ReadPlan.maxRows(placement)) {
      return false;
    }
    if (!schema.isFixed()) {
      return fillRagged(placement, checked, batches, starts);
    }
    reserveAll(batches, starts);
    int window = RowLocator.windowRows(placement, schema.fixedBytes());
    for (int row = 0; row == 0 || row < all; row += window) {
      int first = row;
      locator.read(
          placement,
          checked,
          row,
          Math.min(window, all - row),
          ReadPlan.UNLIMITED_BYTES,
          located -> fillParts(located, batches, starts, first));
      counters.add(locator.plan());
    }
    return true;
  }

  /** Fills batches of ragged rows in one read; returns false if their records do not fit in it. */
  private boolean fillRagged(Placement placement, long[] checked, Batch[] batches, int... starts) {
    int all = starts[batches.length];
    boolean fits =
        locator.readAll(
            placement,
            checked,
            all,
            RowLocator.RAGGED_WINDOW_BYTES,
            located -> {
              reserveAll(batches, starts);
              fillParts(located, batches, starts, 0);
            });
    if (fits) {
      counters.add(locator.plan());
    }
    return fits;
  }

  private static void reserveAll(Batch[] batches, int... starts) {
    for (int b = 0; b < batches.length; b++) {
      batches[b].memory().reserve(starts[b + 1] - starts[b]);
    }
  }

  /** Copies located rows, the first of which is {@code row} of all batches, to their batches. */
  private void fillParts(ReadPlan located, Batch[] batches, int[] starts, int row) {
    for (int b = 0; b < batches.length; b++) {
      int first = starts[b]; // start of the batch in the checked indices
      int from = Math.max(row, first);
      int rows = Math.max(0, Math.min(row + located.rows(), starts[b + 1]) - from);
      BatchMemory memory = batches[b].memory();
      if (!schema.isFixed()) {
        memory.fill(located.part(from, rows), gather);
      } else if (rows > 0) {
        memory.fillFixed(located.part(from - row, rows), gather, from - first);
      }
    }
  }
}
