package org.ddstore.transport;

import java.nio.ByteBuffer;
import org.ddstore.Field;
import org.ddstore.Schema;

/**
 * Copies the chosen ragged fields of located records: first {@link #measure} fills the row offsets
 * of each, then, when the targets are large enough for the totals, {@link #copy} moves the values.
 */
public final class RaggedGather {
  private final int firstLength;
  private final int prefixBytes;
  private final int[] rowBytes;
  private final int[] targetOf;

  /**
   * @param fields positions in the schema; those that are not ragged are passed over
   */
  public RaggedGather(Schema schema, int... fields) {
    this.firstLength = schema.fixedBytes();
    this.prefixBytes = schema.prefixBytes();
    this.rowBytes = new int[schema.raggedFields()];
    this.targetOf = new int[schema.raggedFields()];
    int ragged = 0;
    int[] raggedNumber = new int[schema.size()];
    for (int f = 0; f < schema.size(); f++) {
      Field field = schema.field(f);
      if (field.isRagged()) {
        raggedNumber[f] = ragged;
        rowBytes[ragged] = field.bytes();
        targetOf[ragged++] = -1;
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
   * Writes the row offsets of each chosen field: rows + 1 int64, the first 0, counting rows of the
   * inner shape.
   *
   * @param offsets one little-endian buffer per chosen ragged field, in their order
   * @param totals receives the last offset of each
   */
  public void measure(ReadPlan plan, ByteBuffer[] offsets, long[] totals) {
    java.util.Arrays.fill(totals, 0);
    for (ByteBuffer offset : offsets) {
      offset.putLong(0, 0);
    }
    int rows = plan.rows();
    for (int i = 0; i < rows; i++) {
      ByteBuffer source = plan.source(i);
      int at = plan.position(i) + firstLength;
      for (int target : targetOf) {
        if (target >= 0) {
          totals[target] += source.getInt(at);
          offsets[target].putLong((i + 1) * Long.BYTES, totals[target]);
        }
        at += Integer.BYTES;
      }
    }
  }

  /**
   * Copies the values of each chosen field, back to back.
   *
   * @param offsets as filled by {@link #measure}
   * @param targets one per chosen ragged field, large enough
   */
  public void copy(ReadPlan plan, ByteBuffer[] offsets, ByteBuffer[] targets) {
    int rows = plan.rows();
    for (int i = 0; i < rows; i++) {
      ByteBuffer source = plan.source(i);
      int lengthAt = plan.position(i) + firstLength;
      int dataAt = plan.position(i) + prefixBytes;
      for (int r = 0; r < targetOf.length; r++) {
        int bytes = source.getInt(lengthAt) * rowBytes[r];
        int target = targetOf[r];
        if (target >= 0) {
          int to = (int) (offsets[target].getLong(i * Long.BYTES) * rowBytes[r]);
          targets[target].put(to, source, dataAt, bytes);
        }
        dataAt += bytes;
        lengthAt += Integer.BYTES;
      }
    }
  }
}
