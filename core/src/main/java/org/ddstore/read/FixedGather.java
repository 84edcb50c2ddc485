package org.ddstore.read;

import java.nio.ByteBuffer;

/**
 * A gather of selected fixed fields of located records into one target per field. It copies row by
 * row, so that each record is fetched from memory once, with the plan's kernel if there is one,
 * else with a loop over buffers.
 */
public final class FixedGather {
  private final int[] offsets;
  private final int[] lengths;
  private final long[] described;

  /**
   * @param offsets offset of each field in a record, in bytes
   * @param lengths size of each field, in bytes
   */
  public FixedGather(int[] offsets, int[] lengths) {
    this.offsets = offsets.clone();
    this.lengths = lengths.clone();
    this.described = new long[offsets.length * GatherKernel.FIELD_LONGS];
    for (int f = 0; f < offsets.length; f++) {
      described[f * GatherKernel.FIELD_LONGS + GatherKernel.FIELD_OFFSET] = offsets[f];
      described[f * GatherKernel.FIELD_LONGS + GatherKernel.FIELD_BYTES] = lengths[f];
    }
  }

  /**
   * Copies row i of the plan to position {@code (firstRow + i) * length} of each target.
   *
   * @param targets targets with enough room, one per field; an array target needs a kernel and must
   *     be the only target
   * @param firstRow row of the targets that receives the first row of the plan
   */
  public void copy(ReadPlan plan, GatherTarget[] targets, int firstRow) {
    if (plan.rows() == 0) {
      return;
    }
    if (plan.kernel() == null) {
      copyByBuffers(plan, targets, firstRow);
    } else if (targets.length == 1 && targets[0].array() != null) {
      plan.kernel()
          .scatterToArray(
              plan.kernelRows(),
              offsets[0],
              lengths[0],
              targets[0].array(),
              targets[0].arrayBytes() + (long) firstRow * lengths[0]);
      plan.wasCopied();
    } else {
      for (int f = 0; f < targets.length; f++) {
        described[f * GatherKernel.FIELD_LONGS + GatherKernel.FIELD_TARGET] =
            targets[f].address() + (long) firstRow * lengths[f];
      }
      plan.kernel().scatter(plan.kernelRows(), described, targets.length);
      plan.wasCopied();
    }
  }

  private void copyByBuffers(ReadPlan plan, GatherTarget[] targets, int firstRow) {
    if (targets.length == 1) {
      copyOne(plan, targets[0].buffer(), firstRow);
      return;
    }
    int rows = plan.rows();
    for (int i = 0; i < rows; i++) {
      ByteBuffer source = plan.source(i);
      int position = plan.position(i);
      for (int f = 0; f < targets.length; f++) {
        int length = lengths[f];
        targets[f].buffer().put((firstRow + i) * length, source, position + offsets[f], length);
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
