package org.ddstore.transport;

import java.nio.ByteBuffer;

/**
 * Copies the chosen fixed fields of located records into one buffer per field. Row by row, so that
 * each record is fetched from memory once.
 */
public final class FixedGather {
  private final int[] offsets;
  private final int[] lengths;

  /**
   * @param offsets where each field begins in a record, in bytes
   * @param lengths the bytes of each field
   */
  public FixedGather(int[] offsets, int[] lengths) {
    this.offsets = offsets.clone();
    this.lengths = lengths.clone();
  }

  /**
   * Copies row i of the plan to position {@code (firstRow + i) * length} of each target.
   *
   * @param firstRow the row of the targets that gets the first row of the plan
   * @param targets one per field, large enough
   */
  public void copy(ReadPlan plan, ByteBuffer[] targets, int firstRow) {
    if (targets.length == 1) {
      copyOne(plan, targets[0], firstRow);
      return;
    }
    int rows = plan.rows();
    for (int i = 0; i < rows; i++) {
      ByteBuffer source = plan.source(i);
      int position = plan.position(i);
      for (int f = 0; f < targets.length; f++) {
        int length = lengths[f];
        targets[f].put((firstRow + i) * length, source, position + offsets[f], length);
      }
    }
  }

  private void copyOne(ReadPlan plan, ByteBuffer target, int firstRow) {
    int rows = plan.rows();
    int offset = offsets[0];
    int length = lengths[0];
    for (int i = 0; i < rows; i++) {
      target.put((firstRow + i) * length, plan.source(i), plan.position(i) + offset, length);
    }
  }
}
