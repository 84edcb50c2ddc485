package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.transport.FixedGather;
import org.ddstore.transport.GatherTarget;
import org.ddstore.transport.RaggedGather;
import org.ddstore.transport.ReadPlan;

/**
 * The buffers of a batch and what lies in them: one of values per field, one of row offsets per
 * ragged field. Pooled; the {@link Batch} over it is made anew for every owner.
 */
final class BatchMemory {
  private final Schema schema;
  private final int[] fields;
  private final GrowingBuffer[] values;
  private final GrowingBuffer[] offsets;
  private final int[] raggedSlot;
  private final long[] totals;
  private final GatherTarget[] fixedTargets;
  private final GatherTarget[] raggedTargets;
  private final GatherTarget[] offsetTargets;
  private int rows;

  BatchMemory(Schema schema, int... fields) {
    this.schema = schema;
    this.fields = fields;
    this.values = new GrowingBuffer[fields.length];
    this.raggedSlot = new int[fields.length];
    int ragged = 0;
    for (int i = 0; i < fields.length; i++) {
      values[i] = new GrowingBuffer();
      raggedSlot[i] = schema.field(fields[i]).isRagged() ? ragged++ : -1;
    }
    this.totals = new long[ragged];
    this.offsets = new GrowingBuffer[ragged];
    for (int i = 0; i < ragged; i++) {
      offsets[i] = new GrowingBuffer();
    }
    this.raggedTargets = targets(ragged);
    this.offsetTargets = targets(ragged);
    this.fixedTargets = targets(fields.length - ragged);
  }

  private static GatherTarget[] targets(int count) {
    return Stream.generate(GatherTarget::new).limit(count).toArray(GatherTarget[]::new);
  }

  /** Makes room for {@code count} rows; what the batch held is lost. */
  void reserve(int count) {
    rows = 0;
    Arrays.fill(totals, 0);
    int fixed = 0;
    for (int i = 0; i < fields.length; i++) {
      Field field = schema.field(fields[i]);
      if (!field.isRagged()) {
        long most = GrowingBuffer.MAX_BYTES / field.bytes();
        if (count > most) {
          throw new IllegalArgumentException(
              "%,d rows of %s have %,d bytes; a tensor has at most %,d: read at most %,d rows a batch"
                  .formatted(
                      count, field, (long) count * field.bytes(), GrowingBuffer.MAX_BYTES, most));
        }
        fixedTargets[fixed++].set(values[i], (long) count * field.bytes());
      } else {
        offsetTargets[raggedSlot[i]].set(offsets[raggedSlot[i]], (count + 1L) * Long.BYTES);
      }
    }
  }

  /** Copies fixed rows of a plan for which room was made, to row {@code firstRow} and on. */
  void fillFixed(ReadPlan plan, FixedGather fixedGather, int firstRow) {
    fixedGather.copy(plan, fixedTargets, firstRow);
    rows = firstRow + plan.rows();
  }

  /** Copies the rows of a plan for which room was made: all rows of the batch. */
  void fill(ReadPlan plan, FixedGather fixedGather, RaggedGather raggedGather) {
    if (fixedTargets.length > 0) {
      fixedGather.copy(plan, fixedTargets, 0);
    }
    if (raggedTargets.length > 0) {
      raggedGather.measure(plan, offsetTargets, totals);
      for (int i = 0; i < fields.length; i++) {
        if (raggedSlot[i] >= 0) {
          raggedTargets[raggedSlot[i]].set(values[i], valueBytes(i, plan.rows()));
        }
      }
      raggedGather.copy(plan, offsetTargets, raggedTargets);
    }
    rows = plan.rows();
  }

  private long valueBytes(int slot, int count) {
    Field field = schema.field(fields[slot]);
    long bytes = totals[raggedSlot[slot]] * field.bytes();
    if (bytes > GrowingBuffer.MAX_BYTES) {
      throw new IllegalArgumentException(
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

  /** Bytes of all tensors that hold values. */
  long valueBytes() {
    long bytes = 0;
    for (int i = 0; i < fields.length; i++) {
      bytes += length(i) * schema.field(fields[i]).bytes();
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
    return schema;
  }

  Tensor field(String name) {
    int slot = slot(name);
    Field field = schema.field(fields[slot]);
    int[] inner = field.shape();
    long[] shape = new long[inner.length + 1];
    shape[0] = length(slot);
    for (int d = 0; d < inner.length; d++) {
      shape[d + 1] = inner[d];
    }
    ByteBuffer bytes = values[slot].buffer().slice(0, Math.toIntExact(shape[0] * field.bytes()));
    return Tensor.wrap(field.dtype(), bytes, shape);
  }

  Tensor offsets(String name) {
    int slot = raggedSlot(name);
    ByteBuffer bytes = offsets[slot].buffer().slice(0, (rows + 1) * Long.BYTES);
    return Tensor.wrap(DType.INT64, bytes, rows + 1L);
  }

  byte[] bytes(String name, int row) {
    Objects.checkIndex(row, rows);
    ByteBuffer starts = offsets[raggedSlot(name)].buffer();
    int rowBytes = schema.field(name).bytes();
    int from = (int) (starts.getLong(row * Long.BYTES) * rowBytes);
    int to = (int) (starts.getLong((row + 1) * Long.BYTES) * rowBytes);
    byte[] copy = new byte[to - from];
    values[slot(name)].buffer().get(from, copy);
    return copy;
  }

  String string(String name, int row) {
    if (schema.field(name).kind() != Field.Kind.STRING) {
      throw new IllegalArgumentException(schema.field(name) + " is not a string");
    }
    return new String(bytes(name, row), StandardCharsets.UTF_8);
  }

  private int raggedSlot(String name) {
    int slot = raggedSlot[slot(name)];
    if (slot < 0) {
      throw new IllegalArgumentException(schema.field(name) + " is not ragged");
    }
    return slot;
  }

  private int slot(String name) {
    int index = schema.indexOf(name);
    for (int i = 0; i < fields.length; i++) {
      if (fields[i] == index) {
        return i;
      }
    }
    throw new IllegalArgumentException(
        "field \"%s\" was not chosen when the reader was made".formatted(name));
  }

  /** Frees the memory. */
  void free() {
    for (GrowingBuffer buffer : values) {
      buffer.close();
    }
    for (GrowingBuffer buffer : offsets) {
      buffer.close();
    }
  }
}
