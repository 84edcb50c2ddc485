// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * A gather of selected ragged fields of located records, in two steps: {@link #measure} writes the
 * row offsets of each field; when the targets have room for the totals, {@link #copy} copies the
 * values. Uses the plan's kernel if there is one, else a loop over buffers.
 */
public final class RaggedGather {
  private static final int NOT_CHOSEN = -1;

  private final int firstLength;
  private final int prefixBytes;
  private final int[] rowBytes;
  private final int[] targetOf;
  private final long[] described;
  private final long[] kernelTotals;

  /**
   * @param fields positions of the selected fields in the schema; fixed fields are skipped
   */
  public RaggedGather(Schema schema, int... fields) {
    this.firstLength = schema.fixedBytes();
    this.prefixBytes = schema.prefixBytes();
    this.rowBytes = new int[schema.raggedFields()];
    this.targetOf = new int[schema.raggedFields()];
    this.described = new long[schema.raggedFields() * GatherKernel.RAGGED_LONGS];
    this.kernelTotals = new long[schema.raggedFields()];
    int ragged = 0;
    int[] raggedNumber = new int[schema.size()];
    for (int f = 0; f < schema.size(); f++) {
      Field field = schema.field(f);
      if (field.isRagged()) {
        raggedNumber[f] = ragged;
        rowBytes[ragged] = field.bytes();
        targetOf[ragged++] = NOT_CHOSEN;
      }
    }
    int target = 0;
    for (int f : fields) {
      if (schema.field(f).isRagged()) {
        targetOf[raggedNumber[f]] = target++;
      }
    }
  }

  /**
   * Writes the row offsets of each selected field: rows + 1 int64 values in rows of the inner
   * shape, the first is 0.
   *
   * @param offsets little-endian targets, one per selected ragged field, in their order
   * @param totals receives the last offset of each field
   * @throws DDStoreException if the lengths of a record contradict its size
   */
  public void measure(ReadPlan plan, GatherKernel.Target[] offsets, long[] totals) {
    if (plan.kernel() != null) {
      measureByKernel(plan, offsets, totals);
      return;
    }
    Arrays.fill(totals, 0);
    for (GatherKernel.Target offset : offsets) {
      offset.buffer().putLong(0, 0);
    }
    int rows = plan.rows();
    for (int i = 0; i < rows; i++) {
      ByteBuffer source = plan.source(i);
      int at = plan.position(i) + firstLength;
      long end = prefixBytes;
      if (plan.recordBytes(i) < prefixBytes) {
        throw plan.damaged(i);
      }
      for (int r = 0; r < targetOf.length; r++) {
        int length = source.getInt(at);
        end += length < 0 ? Integer.MAX_VALUE : (long) length * rowBytes[r];
        if (end > plan.recordBytes(i)) { // before a sum can overflow
          throw plan.damaged(i);
        }
        if (targetOf[r] >= 0) {
          totals[targetOf[r]] += length;
          offsets[targetOf[r]].buffer().putLong((i + 1) * Long.BYTES, totals[targetOf[r]]);
        }
        at += Integer.BYTES;
      }
      if (end != plan.recordBytes(i)) {
        throw plan.damaged(i);
      }
    }
  }

  private void measureByKernel(ReadPlan plan, GatherKernel.Target[] offsets, long[] totals) {
    describe(offsets, null);
    int wrong =
        plan.kernel()
            .measureRagged(
                plan.addresses(),
                plan.recordBytes(),
                plan.rows(),
                firstLength,
                described,
                kernelTotals);
    if (wrong >= 0) {
      throw plan.damaged(wrong);
    }
    for (int r = 0; r < targetOf.length; r++) {
      if (targetOf[r] >= 0) {
        totals[targetOf[r]] = kernelTotals[r];
      }
    }
  }

  private void describe(GatherKernel.Target[] offsets, GatherKernel.Target[] values) {
    for (int r = 0; r < targetOf.length; r++) {
      int at = r * GatherKernel.RAGGED_LONGS;
      int target = targetOf[r];
      described[at + GatherKernel.RAGGED_ROW_BYTES] = rowBytes[r];
      described[at + GatherKernel.RAGGED_OFFSETS] = target < 0 ? 0 : offsets[target].address();
      described[at + GatherKernel.RAGGED_VALUES] =
          target < 0 || values == null ? 0 : values[target].address();
    }
  }

  /** Copies the values of each selected field contiguously, after {@link #measure}. */
  public void copy(ReadPlan plan, GatherKernel.Target[] offsets, GatherKernel.Target[] targets) {
    if (plan.kernel() != null) {
      describe(offsets, targets);
      plan.kernel().copyRagged(plan.addresses(), plan.rows(), firstLength, described);
      return;
    }
    int rows = plan.rows();
    for (int i = 0; i < rows; i++) {
      ByteBuffer source = plan.source(i);
      int lengthAt = plan.position(i) + firstLength;
      int dataAt = plan.position(i) + prefixBytes;
      for (int r = 0; r < targetOf.length; r++) {
        int bytes = source.getInt(lengthAt) * rowBytes[r];
        int target = targetOf[r];
        if (target >= 0) {
          int to = (int) (offsets[target].buffer().getLong(i * Long.BYTES) * rowBytes[r]);
          targets[target].buffer().put(to, source, dataAt, bytes);
        }
        dataAt += bytes;
        lengthAt += Integer.BYTES;
      }
    }
  }
}
