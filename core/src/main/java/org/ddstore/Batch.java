package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.ddstore.transport.FixedGather;
import org.ddstore.transport.RaggedGather;
import org.ddstore.transport.ReadPlan;

/**
 * Rows read together: one tensor per field, in the order in which the indices were given.
 *
 * <p>A fixed field is a tensor {@code [rows, shape...]}. A ragged one is in compressed sparse row
 * form: a tensor of values {@code [total, innerShape...]} and one of int64 row offsets {@code [rows
 * + 1]}; row i has the values {@code [offsets[i], offsets[i + 1])}. Tensors are 256-byte aligned
 * and have at most 2 GiB - 257 bytes.
 *
 * <p>A batch belongs to whoever got it until it is closed; then its memory goes back to the
 * reader's pool and its tensors must not be used any more. One thread at a time.
 */
public final class Batch implements AutoCloseable {
  private final BatchPool pool;
  private final Schema schema;
  private final int[] fields;
  private final GrowingBuffer[] values;
  private final GrowingBuffer[] offsets;
  private final int[] raggedSlot;
  private final long[] totals;
  private final ByteBuffer[] fixedTargets;
  private final ByteBuffer[] raggedTargets;
  private final ByteBuffer[] offsetTargets;
  private int rows;
  private boolean open = true;

  Batch(BatchPool pool, Schema schema, int... fields) {
    this.pool = pool;
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
    this.raggedTargets = new ByteBuffer[ragged];
    this.offsetTargets = new ByteBuffer[ragged];
    this.fixedTargets = new ByteBuffer[fields.length - ragged];
  }

  boolean isOf(BatchPool other) {
    return pool == other;
  }

  /** Makes room for {@code count} rows; what the batch held is lost. */
  void reserve(int count) {
    checkOpen();
    rows = 0;
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
        fixedTargets[fixed++] = values[i].ensure((long) count * field.bytes());
      } else {
        offsetTargets[raggedSlot[i]] = offsets[raggedSlot[i]].ensure((count + 1L) * Long.BYTES);
      }
    }
  }

  /** Copies the rows of a plan for which room was made. */
  void fill(ReadPlan plan, FixedGather fixedGather, RaggedGather raggedGather) {
    if (fixedTargets.length > 0) {
      fixedGather.copy(plan, fixedTargets);
    }
    if (raggedTargets.length > 0) {
      raggedGather.measure(plan, offsetTargets, totals);
      for (int i = 0; i < fields.length; i++) {
        if (raggedSlot[i] >= 0) {
          raggedTargets[raggedSlot[i]] = ensureValues(i, plan.rows());
        }
      }
      raggedGather.copy(plan, offsetTargets, raggedTargets);
    }
    rows = plan.rows();
  }

  private ByteBuffer ensureValues(int slot, int count) {
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
    return values[slot].ensure(bytes);
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

  /** How many rows the batch has. */
  public int rows() {
    return rows;
  }

  /** The schema of the variable; the batch has those of its fields that the reader chose. */
  public Schema schema() {
    return schema;
  }

  /**
   * The values of a field: {@code [rows, shape...]}, or {@code [total, innerShape...]} if ragged.
   */
  public Tensor field(String name) {
    checkOpen();
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

  /**
   * The row offsets of a ragged field: int64 {@code [rows + 1]}, counting rows of the inner shape.
   *
   * @throws IllegalArgumentException if the field is not ragged
   */
  public Tensor offsets(String name) {
    checkOpen();
    int slot = raggedSlot(name);
    ByteBuffer bytes = offsets[slot].buffer().slice(0, (rows + 1) * Long.BYTES);
    return Tensor.wrap(DType.INT64, bytes, rows + 1L);
  }

  /** The bytes of a ragged field in one row, copied. */
  public byte[] bytes(String name, int row) {
    checkOpen();
    Objects.checkIndex(row, rows);
    ByteBuffer starts = offsets[raggedSlot(name)].buffer();
    int rowBytes = schema.field(name).bytes();
    int from = (int) (starts.getLong(row * Long.BYTES) * rowBytes);
    int to = (int) (starts.getLong((row + 1) * Long.BYTES) * rowBytes);
    byte[] copy = new byte[to - from];
    values[slot(name)].buffer().get(from, copy);
    return copy;
  }

  /**
   * The text of a string field in one row.
   *
   * @throws IllegalArgumentException if the field is not a string
   */
  public String string(String name, int row) {
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

  private void checkOpen() {
    if (!open) {
      throw new IllegalStateException("closed: " + this);
    }
  }

  void open() {
    rows = 0;
    open = true;
  }

  /** Gives the memory back to the pool. Idempotent. */
  @Override
  public void close() {
    if (open) {
      open = false;
      pool.giveBack(this);
    }
  }

  /** Frees the memory; called by the pool. */
  void free() {
    for (GrowingBuffer buffer : values) {
      buffer.close();
    }
    for (GrowingBuffer buffer : offsets) {
      buffer.close();
    }
  }

  @Override
  public String toString() {
    return "Batch[%d rows of %s]".formatted(rows, schema);
  }
}
