package org.ddstore.read;

import java.util.Arrays;

/**
 * The extents that one batch reads from local memory, each with the version of its segment before
 * the copy. Reused for all batches.
 */
final class TouchedExtents {
  private static final int NONE = -1;

  private Placement placement;
  private int count;
  private int[] touched = new int[4];
  private long[] version = new long[4];
  private long[] lastPlan = new long[0];
  private long plan;

  void begin(Placement placement) {
    this.placement = placement;
    plan++;
    count = 0;
    if (lastPlan.length < placement.extents().extents()) {
      lastPlan = new long[placement.extents().extents()];
    }
  }

  /** Records the version of an extent's segment, once per batch. */
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

  /** Drops the extents without a read row. */
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

  /** Returns whether no row of these extents can have changed since they were touched. */
  boolean isStable() {
    return firstChanged() == NONE;
  }

  /** Returns the rank that is changing its rows, for messages; -1 for none. */
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
