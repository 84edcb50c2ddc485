// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.Lease;
import org.ddstore.Tensor;
import org.ddstore.types.DType;
import org.ddstore.types.Plural;

/**
 * A batch of samples: one tensor per field, in sample order. Tensors are views of pooled memory
 * without a copy. They are valid until the batch is closed or, in a loop over an epoch, until the
 * next batch is requested. After that they throw; byte buffers obtained from them do not throw and
 * must not be used. Used by one thread at a time.
 *
 * <p>A fixed field has the shape {@code [samples, shape...]}, with windows {@code [samples, window,
 * shape...]}. A ragged field is in compressed sparse row form: values {@code [total,
 * innerShape...]} and int64 offsets {@code [rows + 1]}, unless it is padded or made dense.
 */
public final class LoadedBatch implements AutoCloseable {
  private final Slot slot;
  private final Runnable release;
  private final long epoch;
  private final long number;
  private final int samples;
  private final AtomicBoolean open = new AtomicBoolean(true);
  private final Lease lease = new Lease(this);
  private volatile boolean givenOut;

  LoadedBatch(Slot slot, Runnable release) {
    this.slot = slot;
    this.release = release;
    this.epoch = slot.plan().epoch();
    this.number = slot.plan().number();
    this.samples = slot.plan().size();
  }

  private Slot slot() {
    if (!open.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return slot;
  }

  /** {@return the number of samples, including padding} */
  public int samples() {
    return slot().plan().size();
  }

  /** {@return the number of trailing samples that only pad the batch} */
  public int padding() {
    return slot().plan().padding();
  }

  /**
   * {@return the number of sample {@code i}: its row number, unless samples are windows or tiles,
   * or numbered within a subset of the rows}
   *
   * @param i position in the batch, in [0, {@link #samples()})
   */
  public long sample(int i) {
    return slot().plan().sample(Objects.checkIndex(i, samples()));
  }

  /** {@return the number of rows: equal to the number of samples unless samples are windows} */
  public int rows() {
    return slot().rows();
  }

  /**
   * {@return the global index of row {@code i}}
   *
   * @param i position in the batch, in [0, {@link #samples()})
   */
  public long row(int i) {
    return slot().row(Objects.checkIndex(i, rows()));
  }

  /** {@return the epoch of the batch; 0 for pushed indices} */
  public long epoch() {
    return slot().plan().epoch();
  }

  /** {@return the number of the batch within its epoch, or within its pushed indices} */
  public long number() {
    return slot().plan().number();
  }

  /** {@return this rank's share of the global batch, in [0, 1]: the weight of its gradients} */
  public double share() {
    return slot().plan().share();
  }

  /**
   * {@return the values of a field, or a tensor that the transform made}
   *
   * @param name name of a field
   */
  public Tensor field(String name) {
    Objects.requireNonNull(name, "name is null");
    return slot().field(name).leasedBy(lease);
  }

  /**
   * {@return the row offsets of a ragged field: int64 {@code [rows + 1]}, counted in rows of the
   * inner shape}
   *
   * @param name name of a field
   * @throws IllegalArgumentException if the field is not ragged
   */
  public Tensor offsets(String name) {
    Objects.requireNonNull(name, "name is null");
    return slot().read().offsets(name).leasedBy(lease);
  }

  /**
   * {@return the text of a string field in one row}
   *
   * @param name name of a field
   * @param row position of the row in the batch
   */
  public String string(String name, int row) {
    Objects.requireNonNull(name, "name is null");
    return slot().read().string(name, row);
  }

  Set<String> names() {
    return slot().names();
  }

  boolean hasOffsets(String name) {
    return slot().hasOffsets(name);
  }

  /** {@return a weight for each sample, float32 {@code [samples]}: 0 for padding, otherwise 1} */
  public Tensor weights() {
    return slot().weights().leasedBy(lease);
  }

  /**
   * Allocates pooled memory for a tensor of this batch, 256-byte aligned and not zeroed. {@link
   * #field} returns it from now on, in place of a field of the same name. For use by a transform.
   *
   * @param name name of a field
   * @param dtype element type of the tensor
   * @param shape dimensions of the tensor
   * @return the tensor, which belongs to the batch
   */
  public Tensor allocate(String name, DType dtype, long... shape) {
    Objects.requireNonNull(name, "name is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(shape, "shape is null");
    return slot().allocate(name, dtype, shape).leasedBy(lease);
  }

  BatchPlan plan() {
    return slot().plan();
  }

  void giveOut() {
    givenOut = true;
  }

  /** Ends the batch without delivery; tensors that a transform has kept throw on access. */
  void discard() {
    open.set(false);
    lease.end();
  }

  /** Gives the memory back to the loader. Idempotent. */
  @Override
  public void close() {
    if (!givenOut) {
      throw new IllegalStateException("a transform cannot close a batch of its loader: " + this);
    }
    if (open.compareAndSet(true, false)) {
      lease.end();
      release.run();
    }
  }

  @Override
  public String toString() {
    return "LoadedBatch[epoch %d, number %d, %s]"
        .formatted(epoch, number, Plural.of(samples, "sample"));
  }
}
