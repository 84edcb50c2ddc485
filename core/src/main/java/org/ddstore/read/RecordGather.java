// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.ValueCast;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * A gather of the selected fields of located records into the buffers of a batch. Fields with a
 * cast pass through a block that stays in a cache: each stored value is read from memory once and
 * each output value is written once. Not thread-safe.
 */
public final class RecordGather implements AutoCloseable {
  /** Bytes of a block that fits in a second-level cache together with its cast values. */
  private static final int BLOCK_BYTES = 128 << 10;

  private final Fixed plain;
  private final Fixed stored;
  private final RaggedGather ragged;
  private final boolean hasPlain;
  private final ValueCast[] casts;
  private final int[] elements;
  private final int blockRows;
  private final GrowingBuffer[] blocks;
  private final GatherKernel.Target[] blockTargets;

  /**
   * @param fields positions of the selected fields in the schema
   * @param casts cast of each selected field; null for values as stored
   */
  public RecordGather(Schema schema, int[] fields, ValueCast[] casts) {
    int[] fixed =
        IntStream.range(0, fields.length)
            .filter(p -> !schema.field(fields[p]).isRagged())
            .toArray();
    int[] asStored =
        IntStream.of(fixed).filter(p -> casts[p] == null).map(p -> fields[p]).toArray();
    int[] cast = IntStream.of(fixed).filter(p -> casts[p] != null).toArray();
    Field[] castFields =
        IntStream.of(cast).mapToObj(p -> schema.field(fields[p])).toArray(Field[]::new);
    this.plain = new Fixed(schema, asStored);
    this.stored = new Fixed(schema, IntStream.of(cast).map(p -> fields[p]).toArray());
    this.hasPlain = asStored.length > 0;
    this.ragged = new RaggedGather(schema, fields);
    this.casts = IntStream.of(cast).mapToObj(p -> casts[p]).toArray(ValueCast[]::new);
    this.elements =
        Stream.of(castFields).mapToInt(field -> field.bytes() / field.dtype().bytes()).toArray();
    long rowBytes = Stream.of(castFields).mapToLong(Field::bytes).sum();
    this.blockRows = (int) Math.max(1, BLOCK_BYTES / Math.max(1, rowBytes));
    this.blocks = new GrowingBuffer[cast.length];
    this.blockTargets = new GatherKernel.Target[cast.length];
    for (int c = 0; c < cast.length; c++) {
      blocks[c] = new GrowingBuffer();
      blockTargets[c] = new GatherKernel.Target();
    }
  }

  /** Returns the gather of the fields without a cast. */
  public Fixed plain() {
    return plain;
  }

  public RaggedGather ragged() {
    return ragged;
  }

  /** Returns the best number of rows per located window if all rows are in local memory. */
  public int windowRows() {
    return casts.length == 0 ? Integer.MAX_VALUE : blockRows;
  }

  /**
   * Copies the fixed fields of all rows of a plan.
   *
   * @param targets targets of the fields without a cast
   * @param castTargets targets of the fields with a cast
   * @param firstRow row of the targets that receives the first row of the plan
   */
  public void fixed(
      ReadPlan plan, GatherKernel.Target[] targets, ByteBuffer[] castTargets, int firstRow) {
    if (hasPlain) {
      plain.copy(plan, targets, firstRow);
    }
    if (casts.length == 0) {
      return;
    }
    int step = plan.hasParts() ? blockRows : Math.max(1, plan.rows());
    for (int from = 0; from < plan.rows(); from += step) {
      int count = Math.min(step, plan.rows() - from);
      for (int c = 0; c < casts.length; c++) {
        blockTargets[c].set(blocks[c], (long) count * elements[c] * casts[c].from().bytes());
      }
      stored.copy(plan.part(from, count), blockTargets, 0);
      for (int c = 0; c < casts.length; c++) {
        int at = (firstRow + from) * elements[c] * casts[c].to().bytes();
        casts[c].apply(blocks[c].buffer(), 0, castTargets[c], at, count * elements[c]);
      }
    }
  }

  /** Returns the current capacity of the blocks in bytes. */
  public long memoryBytes() {
    long bytes = 0;
    for (GrowingBuffer block : blocks) {
      bytes += block.buffer().capacity();
    }
    return bytes;
  }

  @Override
  public void close() {
    for (GrowingBuffer block : blocks) {
      block.close();
    }
  }

  /**
   * A gather of selected fixed fields into one target per field. It copies row by row, so that each
   * record is fetched from memory once, with the plan's kernel if there is one, else with a loop
   * over buffers.
   */
  public static final class Fixed {
    private final int[] offsets;
    private final int[] lengths;
    private final long[] described;

    /**
     * @param fields positions of fixed fields in the schema
     */
    public Fixed(Schema schema, int... fields) {
      this.offsets = IntStream.of(fields).map(schema::fixedOffset).toArray();
      this.lengths = IntStream.of(fields).map(f -> schema.field(f).bytes()).toArray();
      this.described = new long[offsets.length * GatherKernel.FIELD_LONGS];
      for (int f = 0; f < offsets.length; f++) {
        described[f * GatherKernel.FIELD_LONGS + GatherKernel.FIELD_OFFSET] = offsets[f];
        described[f * GatherKernel.FIELD_LONGS + GatherKernel.FIELD_BYTES] = lengths[f];
      }
    }

    /**
     * Copies row i of the plan to position {@code (firstRow + i) * length} of each target.
     *
     * @param targets targets with enough room, one per field; an array target needs a kernel and
     *     must be the only target
     * @param firstRow row of the targets that receives the first row of the plan
     */
    public void copy(ReadPlan plan, GatherKernel.Target[] targets, int firstRow) {
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
        plan.countCopied();
      } else {
        for (int f = 0; f < targets.length; f++) {
          described[f * GatherKernel.FIELD_LONGS + GatherKernel.FIELD_TARGET] =
              targets[f].address() + (long) firstRow * lengths[f];
        }
        plan.kernel().scatter(plan.kernelRows(), described, targets.length);
        plan.countCopied();
      }
    }

    private void copyByBuffers(ReadPlan plan, GatherKernel.Target[] targets, int firstRow) {
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
}
