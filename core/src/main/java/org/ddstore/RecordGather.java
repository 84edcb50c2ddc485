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
 * Copies the chosen fields of located records into the buffers of a batch. Fields that are cast
 * come through a block that stays in a cache: what is stored is read from memory once, what is
 * given out is written once. One thread.
 */
final class RecordGather implements AutoCloseable {
  /** Fits a cache of the second level beside what it is cast to. */
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

  /** Of the fields that are not cast. */
  FixedGather plain() {
    return plain;
  }

  RaggedGather ragged() {
    return ragged;
  }

  /** How many rows are best located at once if memory reaches all. */
  int windowRows() {
    return casts.length == 0 ? Integer.MAX_VALUE : blockRows;
  }

  /**
   * Copies the fixed fields of all rows of a plan.
   *
   * @param firstRow the row of the targets that gets the first row of the plan
   * @param targets of the fields as they are stored
   * @param castTargets of those that are cast
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

  /** The memory of the blocks now, in bytes. */
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
