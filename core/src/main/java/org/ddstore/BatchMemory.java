// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.ReadPlan;
import org.ddstore.read.RecordGather;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The buffers of a batch and their contents: one value buffer per field and one buffer of row
 * offsets per ragged field. Pooled; each owner gets a new {@link Batch} over it.
 */
final class BatchMemory {
  private final Projection fields;
  private final GrowingBuffer[] values;
  private final GrowingBuffer[] offsets;
  private final int[] raggedSlot;
  private final long[] totals;
  private final GatherKernel.Target[] fixedTargets;
  private final ByteBuffer[] castTargets;
  private final GatherKernel.Target[] raggedTargets;
  private final GatherKernel.Target[] offsetTargets;
  private int rows;

  BatchMemory(Projection fields) {
    this.fields = fields;
    this.values = new GrowingBuffer[fields.size()];
    this.raggedSlot = new int[fields.size()];
    int ragged = 0;
    int cast = 0;
    for (int i = 0; i < fields.size(); i++) {
      values[i] = fields.newBuffer();
      raggedSlot[i] = fields.field(i).isRagged() ? ragged++ : -1;
      cast += fields.cast(i) == null ? 0 : 1;
    }
    this.totals = new long[ragged];
    this.offsets = new GrowingBuffer[ragged];
    for (int i = 0; i < ragged; i++) {
      offsets[i] = fields.newBuffer();
    }
    this.raggedTargets = targets(ragged);
    this.offsetTargets = targets(ragged);
    this.fixedTargets = targets(fields.size() - ragged - cast);
    this.castTargets = new ByteBuffer[cast];
  }

  private static GatherKernel.Target[] targets(int count) {
    return Stream.generate(GatherKernel.Target::new)
        .limit(count)
        .toArray(GatherKernel.Target[]::new);
  }

  /** Reserves room for {@code count} rows and discards the previous contents. */
  void reserve(int count) {
    rows = 0;
    Arrays.fill(totals, 0);
    int fixed = 0;
    int cast = 0;
    for (int i = 0; i < fields.size(); i++) {
      if (fields.field(i).isRagged()) {
        offsetTargets[raggedSlot[i]].set(offsets[raggedSlot[i]], (count + 1L) * Long.BYTES);
        continue;
      }
      long bytes = checkedBytes(i, count);
      if (fields.cast(i) == null) {
        fixedTargets[fixed++].set(values[i], bytes);
      } else {
        castTargets[cast++] = values[i].ensure(bytes);
      }
    }
  }

  private long checkedBytes(int slot, int count) {
    long bytes = (long) count * fields.bytes(slot);
    if (bytes > GrowingBuffer.MAX_BYTES) {
      throw new BatchTooLargeException(
          "%,d rows of %s have %,d bytes; a tensor has at most %,d: read at most %,d rows a batch"
              .formatted(
                  count,
                  fields.field(slot),
                  bytes,
                  GrowingBuffer.MAX_BYTES,
                  GrowingBuffer.MAX_BYTES / fields.bytes(slot)));
    }
    return bytes;
  }

  /** Copies the fixed rows of a plan into reserved memory, starting at row {@code firstRow}. */
  void fillFixed(ReadPlan plan, RecordGather gather, int firstRow) {
    gather.fixed(plan, fixedTargets, castTargets, firstRow);
    rows = firstRow + plan.rows();
  }

  /** Copies all ragged records of a plan into reserved memory: all rows of the batch. */
  void fill(ReadPlan plan, RecordGather gather) {
    if (raggedTargets.length > 0) {
      // First, because it validates the records.
      gather.ragged().measure(plan, offsetTargets, totals);
    } else {
      plan.checkRecords(fields.schema().prefixBytes());
    }
    gather.fixed(plan, fixedTargets, castTargets, 0);
    if (raggedTargets.length > 0) {
      for (int i = 0; i < fields.size(); i++) {
        if (raggedSlot[i] >= 0) {
          raggedTargets[raggedSlot[i]].set(values[i], valueBytes(i, plan.rows()));
        }
      }
      gather.ragged().copy(plan, offsetTargets, raggedTargets);
    }
    rows = plan.rows();
  }

  private long valueBytes(int slot, int count) {
    Field field = fields.field(slot);
    long bytes = totals[raggedSlot[slot]] * field.bytes();
    if (bytes > GrowingBuffer.MAX_BYTES) {
      throw new BatchTooLargeException(
          "%,d rows of %s have %,d bytes; a tensor has at most %,d: read about %,d rows a batch"
              .formatted(
                  count,
                  field,
                  bytes,
                  GrowingBuffer.MAX_BYTES,
                  Math.max(1, (long) ((double) count * GrowingBuffer.MAX_BYTES / bytes))));
    }
    return bytes;
  }

  long valueBytes() {
    long bytes = 0;
    for (int i = 0; i < fields.size(); i++) {
      bytes += length(i) * fields.bytes(i);
    }
    return bytes;
  }

  long capacityBytes() {
    long bytes = 0;
    for (GrowingBuffer buffer : values) {
      bytes += buffer.buffer().capacity();
    }
    for (GrowingBuffer buffer : offsets) {
      bytes += buffer.buffer().capacity();
    }
    return bytes;
  }

  private long length(int slot) {
    return raggedSlot[slot] < 0 ? rows : totals[raggedSlot[slot]];
  }

  int rows() {
    return rows;
  }

  Schema schema() {
    return fields.schema();
  }

  Projection fields() {
    return fields;
  }

  Tensor field(String name) {
    int slot = fields.place(name);
    int[] inner = fields.field(slot).shape();
    long[] shape = new long[inner.length + 1];
    shape[0] = length(slot);
    for (int d = 0; d < inner.length; d++) {
      shape[d + 1] = inner[d];
    }
    ByteBuffer bytes =
        values[slot].buffer().slice(0, Math.toIntExact(shape[0] * fields.bytes(slot)));
    return Tensor.wrap(fields.dtype(slot), bytes, shape);
  }

  Tensor offsets(String name) {
    int slot = raggedSlot(name);
    ByteBuffer bytes = offsets[slot].buffer().slice(0, (rows + 1) * Long.BYTES);
    return Tensor.wrap(DType.INT64, bytes, rows + 1L);
  }

  byte[] bytes(String name, int row) {
    Objects.checkIndex(row, rows);
    ByteBuffer starts = offsets[raggedSlot(name)].buffer();
    int rowBytes = schema().field(name).bytes();
    int from = (int) (starts.getLong(row * Long.BYTES) * rowBytes);
    int to = (int) (starts.getLong((row + 1) * Long.BYTES) * rowBytes);
    byte[] copy = new byte[to - from];
    values[fields.place(name)].buffer().get(from, copy);
    return copy;
  }

  String string(String name, int row) {
    if (schema().field(name).kind() != Field.Kind.STRING) {
      throw new IllegalArgumentException(schema().field(name) + " is not a string");
    }
    return new String(bytes(name, row), StandardCharsets.UTF_8);
  }

  private int raggedSlot(String name) {
    int slot = raggedSlot[fields.place(name)];
    if (slot < 0) {
      throw new IllegalArgumentException(schema().field(name) + " is not ragged");
    }
    return slot;
  }

  void free() {
    Cleanup.runAll(Stream.of(values, offsets).flatMap(Stream::of).map(buffer -> buffer::close));
  }

  /** A pool of idle batch memory. Any thread may return memory, even after the close. */
  static final class Pool implements AutoCloseable {
    private static final int MAX_IDLE = 4;

    private final Projection fields;
    private final Deque<BatchMemory> idle = new ArrayDeque<>();
    private boolean closed;

    Pool(Projection fields) {
      this.fields = fields;
    }

    Batch take() {
      BatchMemory memory;
      synchronized (idle) {
        memory = idle.pollLast();
      }
      return new Batch(this, memory == null ? new BatchMemory(fields) : memory);
    }

    void giveBack(BatchMemory memory) {
      synchronized (idle) {
        if (!closed && idle.size() < MAX_IDLE) {
          idle.addLast(memory);
          return;
        }
      }
      memory.free();
    }

    @Override
    public void close() {
      synchronized (idle) {
        closed = true;
        List<BatchMemory> all = List.copyOf(idle);
        idle.clear();
        Cleanup.runAll(all.stream().map(memory -> memory::free));
      }
    }
  }
}
