package org.ddstore;

import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.types.Schema;

/**
 * Rows read together: one tensor per field, in the order in which the indices were given.
 *
 * <p>A fixed field is a tensor {@code [rows, shape...]}. A ragged one is in compressed sparse row
 * form: a tensor of values {@code [total, innerShape...]} and one of int64 row offsets {@code [rows
 * + 1]}; row i has the values {@code [offsets[i], offsets[i + 1])}. Tensors are 256-byte aligned
 * and have at most 2 GiB - 257 bytes.
 *
 * <p>A batch belongs to whoever got it until it is closed; then its memory goes back to the
 * reader's pool, and its tensors give nothing out any more; byte buffers of them must not be used.
 * One thread at a time.
 */
public final class Batch implements AutoCloseable {
  private final BatchPool pool;
  private final BatchMemory memory;
  private final AtomicBoolean open = new AtomicBoolean(true);
  private final Lease lease = new Lease(this);

  Batch(BatchPool pool, BatchMemory memory) {
    this.pool = pool;
    this.memory = memory;
  }

  boolean isOf(BatchPool other) {
    return pool == other;
  }

  /** True if readers of these fields can fill it. */
  boolean holds(Projection fields) {
    return memory().fields().isLike(fields);
  }

  /** The memory, as long as this batch is its owner. */
  BatchMemory memory() {
    if (!open.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return memory;
  }

  /** How many rows the batch has. */
  public int rows() {
    return memory().rows();
  }

  /** The schema of the variable; the batch has those of its fields that the reader chose. */
  public Schema schema() {
    return memory.schema();
  }

  /**
   * The values of a field: {@code [rows, shape...]}, or {@code [total, innerShape...]} if ragged.
   */
  public Tensor field(String name) {
    return memory().field(name).leasedBy(lease);
  }

  /**
   * The row offsets of a ragged field: int64 {@code [rows + 1]}, counting rows of the inner shape.
   *
   * @throws IllegalArgumentException if the field is not ragged
   */
  public Tensor offsets(String name) {
    return memory().offsets(name).leasedBy(lease);
  }

  /** The bytes of a ragged field in one row, copied. */
  public byte[] bytes(String name, int row) {
    return memory().bytes(name, row);
  }

  /**
   * The text of a string field in one row.
   *
   * @throws IllegalArgumentException if the field is not a string
   */
  public String string(String name, int row) {
    return memory().string(name, row);
  }

  /** The memory that it has, in bytes: that of the largest batch that was in it. */
  public long capacityBytes() {
    return memory().capacityBytes();
  }

  /** Gives the memory back to the pool. Idempotent. */
  @Override
  public void close() {
    if (open.compareAndSet(true, false)) {
      lease.end();
      pool.giveBack(memory);
    }
  }

  @Override
  public String toString() {
    return "Batch[%s]".formatted(memory.schema());
  }
}
