package org.ddstore.read;

import java.util.Arrays;

/**
 * The extents that one batch reads from memory, each with the version of its segment from before
 * the copy. Reused from batch to batch.
 */
final class TouchedExtents {
  private static final int NONE = -1;

  private Placement placement;
  private int count;
  private int[] touched = new int[4];
  private long[] version = new long[4];
  private long[] lastPlan = new long[0];
  private long plan;

  void begin(Placement where) {
    placement = where;
    plan++;
    count = 0;
    if (lastPlan.length < where.extents().extents()) {
      lastPlan = new long[where.extents().extents()];
    }
  }

  /** Takes the version of an extent's segment, unless this batch has it. */
  void touch(int extent) {
    if (lastPlan[extent] != plan) {
      lastPlan[extent] = plan;
      if (count == touched.length) {
        touched = Arrays.copyOf(touched, 2 * count);
        version = Arrays.copyOf(version, 2 * count);
      }
      touched[count] = extent;
      version[count] = placement.segment(extent).version();
      count++;
    }
  }

  /** Forgets those of which no row was read. */
  void keepOnly(int[] rowsOfExtents) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (rowsOfExtents[touched[i]] > 0) {
        touched[kept] = touched[i];
        version[kept++] = version[i];
      }
    }
    count = kept;
  }

  /** True if no row of them can have changed since it was touched. */
  boolean isStable() {
    return firstChanged() == NONE;
  }

  /** The rank whose rows are being changed, for a message; -1 if none is. */
  int changingRank() {
    int extent = firstChanged();
    return extent == NONE ? -1 : placement.extents().rank(extent);
  }

  private int firstChanged() {
    for (int i = 0; i < count; i++) {
      if (!placement.segment(touched[i]).validate(version[i])) {
        return touched[i];
      }
    }
    return NONE;
  }
}
