// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.types.Plural;
import org.ddstore.types.Schema;

/**
 * A set of rows read together: one tensor per field, with rows in the order of the requested
 * indices.
 *
 * <p>A fixed field is a tensor {@code [rows, shape...]}. A ragged one is in compressed sparse row
 * form: a tensor of values {@code [total, innerShape...]} and one of int64 row offsets {@code [rows
 * + 1]}; row i has the values {@code [offsets[i], offsets[i + 1])}. Tensors are 256-byte aligned
 * and have at most 2 GiB - 257 bytes.
 *
 * <p>The caller owns a batch and closes it. Closing returns its memory to the reader's pool;
 * afterwards its tensors throw, and byte buffers taken from them must not be used. Not thread-safe.
 */
public final class Batch implements AutoCloseable {
  private final BatchMemory.Pool pool;
  private final BatchMemory memory;
  private final AtomicBoolean open = new AtomicBoolean(true);
  private final Lease lease = new Lease(this);

  Batch(BatchMemory.Pool pool, BatchMemory memory) {
    this.pool = pool;
    this.memory = memory;
  }

  boolean isOf(BatchMemory.Pool other) {
    return pool == other;
  }

  boolean holds(Projection fields) {
    return memory().fields().isLike(fields);
  }

  /** Returns the memory; throws if this batch is closed. */
  BatchMemory memory() {
    if (!open.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return memory;
  }

  /** {@return the number of rows in this batch} */
  public int rows() {
    return memory().rows();
  }

  /** {@return the schema of the variable; the batch holds the fields that the reader selected} */
  public Schema schema() {
    return memory.schema();
  }

  /**
   * {@return the values of a field: {@code [rows, shape...]}, or {@code [total, innerShape...]} if
   * ragged}
   *
   * @param name name of a field that the reader selected
   */
  public Tensor field(String name) {
    return memory().field(name).leasedBy(lease);
  }

  /**
   * {@return the row offsets of a ragged field: int64 {@code [rows + 1]}, in rows of the inner
   * shape}
   *
   * @param name name of a field that the reader selected
   * @throws IllegalArgumentException if the field is not ragged
   */
  public Tensor offsets(String name) {
    return memory().offsets(name).leasedBy(lease);
  }

  /**
   * {@return a copy of the bytes of a ragged field in one row}
   *
   * @param name name of a field that the reader selected
   * @param row position of the row in the batch, in [0, {@link #rows()})
   */
  public byte[] bytes(String name, int row) {
    return memory().bytes(name, row);
  }

  /**
   * {@return the text of a string field in one row}
   *
   * @param name name of a field that the reader selected
   * @param row position of the row in the batch, in [0, {@link #rows()})
   * @throws IllegalArgumentException if the field is not a string
   */
  public String string(String name, int row) {
    return memory().string(name, row);
  }

  /** {@return the capacity of the memory in bytes: that of the largest batch it has held} */
  public long capacityBytes() {
    return memory().capacityBytes();
  }

  /** Returns the memory to the pool. Idempotent. */
  @Override
  public void close() {
    if (open.compareAndSet(true, false)) {
      lease.end();
      pool.giveBack(memory);
    }
  }

  /** Returns one line, such as {@code Batch[64 rows of x: float32[3], label: int64]}. */
  @Override
  public String toString() {
    return open.get()
        ? "Batch[%s of %s]".formatted(Plural.of(memory.rows(), "row"), memory.fields())
        : "Batch[closed, rows of %s]".formatted(memory.fields());
  }
}
