package org.ddstore.loader;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.Lease;
import org.ddstore.Tensor;
import org.ddstore.types.DType;

/**
 * Samples read together: one tensor per field, in the order of the samples. Tensors are views of
 * pooled memory without a copy: they are valid until the batch is closed, or, in a loop over an
 * epoch, until the next one is asked for. After that they throw; byte buffers that were got of them
 * do not, and must not be used. One thread at a time.
 *
 * <p>A fixed field is {@code [samples, shape...]}; of windows {@code [samples, window, shape...]}.
 * A ragged one is in compressed sparse row form: values {@code [total, innerShape...]} and int64
 * offsets {@code [rows + 1]}, unless it is padded or made dense.
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

  /** How many samples the batch has, padding included. */
  public int samples() {
    return slot().plan().size();
  }

  /** How many samples, the last ones, only pad the batch. */
  public int padding() {
    return slot().plan().padding();
  }

  /** The number of sample {@code i}; that of its row unless samples are windows or tiles. */
  public long sample(int i) {
    return slot().plan().sample(Objects.checkIndex(i, samples()));
  }

  /** How many rows the batch has: as many as samples unless these are windows. */
  public int rows() {
    return slot().rows();
  }

  /** The global index of row {@code i}. */
  public long row(int i) {
    return slot().row(Objects.checkIndex(i, rows()));
  }

  /** The epoch that the batch is of; 0 for pushed indices. */
  public long epoch() {
    return slot().plan().epoch();
  }

  /** The number of the batch in its epoch, or among those of its pushed indices. */
  public long number() {
    return slot().plan().number();
  }

  /** This rank's part of the global batch, by which to weigh its gradients: of [0, 1]. */
  public double share() {
    return slot().plan().share();
  }

  /** The values of a field, or a tensor that the transform made. */
  public Tensor field(String name) {
    Objects.requireNonNull(name, "name is null");
    return slot().field(name).leasedBy(lease);
  }

  /**
   * The row offsets of a ragged field: int64 {@code [rows + 1]}, counting rows of the inner shape.
   *
   * @throws IllegalArgumentException if the field is not ragged
   */
  public Tensor offsets(String name) {
    Objects.requireNonNull(name, "name is null");
    return slot().read().offsets(name).leasedBy(lease);
  }

  /** The text of a string field in one row. */
  public String string(String name, int row) {
    Objects.requireNonNull(name, "name is null");
    return slot().read().string(name, row);
  }

  /** A weight for each sample, float32 {@code [samples]}: 0 for padding, else 1. */
  public Tensor weights() {
    return slot().weights().leasedBy(lease);
  }

  /**
   * Pooled memory for a tensor of this batch, 256-byte aligned, with anything in it: {@link #field}
   * gives it from now on, in place of a field of the same name. For a transform.
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

  /**
   * Ends it without giving it out: the loader uses its memory again or frees it, and tensors that a
   * transform has kept refuse.
   */
  void discard() {
    open.set(false);
    lease.end();
  }

  /** Gives the memory back to the loader. Idempotent. */
  @Override
  public void close() {
    if (!givenOut) {
      throw new IllegalStateException(this + " belongs to its loader: a transform cannot close it");
    }
    if (open.compareAndSet(true, false)) {
      lease.end();
      release.run();
    }
  }

  @Override
  public String toString() {
    return "LoadedBatch[epoch %d, number %d, %d samples]".formatted(epoch, number, samples);
  }
}
