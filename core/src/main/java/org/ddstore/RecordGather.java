package org.ddstore;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.ValueCast;
import org.ddstore.read.FixedGather;
import org.ddstore.read.GatherTarget;
import org.ddstore.read.RaggedGather;
import org.ddstore.read.ReadPlan;

/**
 * A gather of the selected fields of located records into the buffers of a batch. Fields with a
 * cast pass through a block that stays in a cache: each stored value is read from memory once and
 * each output value is written once. Not thread-safe.
 */
final class RecordGather implements AutoCloseable {
  /** Bytes of a block that fits in a second-level cache together with its cast values. */
  private static final int BLOCK_BYTES = 128 << 10;

  private final FixedGather plain;
  private final FixedGather stored;
  private final RaggedGather ragged;
  private final boolean hasPlain;
  private final ValueCast[] casts;
  private final int[] elements;
  private final int blockRows;
  private final GrowingBuffer[] blocks;
  private final GatherTarget[] blockTargets;

  RecordGather(Projection fields) {
    int[] fixed =
        IntStream.range(0, fields.size()).filter(p -> !fields.field(p).isRagged()).toArray();
    int[] asStored = IntStream.of(fixed).filter(p -> fields.cast(p) == null).toArray();
    int[] cast = IntStream.of(fixed).filter(p -> fields.cast(p) != null).toArray();
    this.plain = gather(fields, asStored);
    this.stored = gather(fields, cast);
    this.hasPlain = asStored.length > 0;
    this.ragged =
        new RaggedGather(
            fields.schema(), IntStream.range(0, fields.size()).map(fields::position).toArray());
    this.casts = IntStream.of(cast).mapToObj(fields::cast).toArray(ValueCast[]::new);
    this.elements =
        IntStream.of(cast)
            .map(p -> fields.field(p).bytes() / fields.field(p).dtype().bytes())
            .toArray();
    long rowBytes = IntStream.of(cast).mapToLong(p -> fields.field(p).bytes()).sum();
    this.blockRows = (int) Math.max(1, BLOCK_BYTES / Math.max(1, rowBytes));
    this.blocks = new GrowingBuffer[cast.length];
    this.blockTargets = new GatherTarget[cast.length];
    for (int c = 0; c < cast.length; c++) {
      blocks[c] = new GrowingBuffer();
      blockTargets[c] = new GatherTarget();
    }
  }

  private static FixedGather gather(Projection fields, int... places) {
    return new FixedGather(
        IntStream.of(places).map(p -> fields.schema().fixedOffset(fields.position(p))).toArray(),
        IntStream.of(places).map(p -> fields.field(p).bytes()).toArray());
  }

  /** Returns the gather of the fields without a cast. */
  FixedGather plain() {
    return plain;
  }

  RaggedGather ragged() {
    return ragged;
  }

  /** Returns the best number of rows per located window if all rows are in local memory. */
  int windowRows() {
    return casts.length == 0 ? Integer.MAX_VALUE : blockRows;
  }

  /**
   * Copies the fixed fields of all rows of a plan.
   *
   * @param targets targets of the fields without a cast
   * @param castTargets targets of the fields with a cast
   * @param firstRow row of the targets that receives the first row of the plan
   */
  void fixed(ReadPlan plan, GatherTarget[] targets, ByteBuffer[] castTargets, int firstRow) {
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
  long memoryBytes() {
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
}
