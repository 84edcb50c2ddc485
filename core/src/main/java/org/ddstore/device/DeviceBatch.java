// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A batch of samples on a device: one tensor per field of a {@link org.ddstore.loader.LoadedBatch},
 * in sample order. Its copy may still run: {@link #awaitOn} or {@link #synchronize} come before any
 * use.
 *
 * <p>The batch is valid until it is closed or, in a loop over an epoch, until the next batch is
 * requested. Work on a stream that was given to {@link #awaitOn} before may still be queued then:
 * the memory is reused only after it. Other work that uses the tensors must be complete. Used by
 * one thread, that of the loader.
 */
public final class DeviceBatch implements AutoCloseable {
  private final DeviceSlot slot;
  private final DeviceLoader loader;
  private final String text;
  private final AtomicBoolean open = new AtomicBoolean(true);

  DeviceBatch(DeviceSlot slot, DeviceLoader loader) {
    this.slot = slot;
    this.loader = loader;
    this.text =
        "DeviceBatch[device %d, epoch %d, number %d]"
            .formatted(slot.stream().device(), slot.facts().epoch(), slot.facts().number());
  }

  DeviceSlot slot() {
    if (!open.get() || loader.isClosed()) {
      throw new IllegalStateException("closed: " + this);
    }
    return slot;
  }

  /** {@return the number of samples, including padding} */
  public int samples() {
    return slot().facts().samples();
  }

  /** {@return the number of trailing samples that only pad the batch} */
  public int padding() {
    return slot().facts().padding();
  }

  /**
   * {@return the number of sample {@code i}: its row number unless samples are windows or tiles}
   *
   * @param i position in the batch, in [0, {@link #samples()})
   */
  public long sample(int i) {
    return slot().sample(Objects.checkIndex(i, samples()));
  }

  /** {@return the epoch of the batch} */
  public long epoch() {
    return slot().facts().epoch();
  }

  /** {@return the number of the batch within its epoch} */
  public long number() {
    return slot().facts().number();
  }

  /** {@return this rank's share of the global batch, in [0, 1]: the weight of its gradients} */
  public double share() {
    return slot().facts().share();
  }

  /** {@return the number of the device} */
  public int device() {
    return slot.stream().device();
  }

  /** {@return the names of all fields} */
  public Set<String> names() {
    return Set.copyOf(slot().fields().keySet());
  }

  /**
   * {@return the values of a field, or a tensor that the loader's transform made}
   *
   * @param name name of a field
   * @throws IllegalArgumentException if there is no such field
   */
  public DeviceTensor field(String name) {
    Objects.requireNonNull(name, "name is null");
    TensorPlace place = slot().fields().get(name);
    if (place == null) {
      throw new IllegalArgumentException(
          "no field \"%s\"; %s has %s".formatted(name, this, slot.fields().keySet()));
    }
    return new DeviceTensor(this, name, place);
  }

  /**
   * {@return the row offsets of a ragged field: int64 {@code [rows + 1]}, counted in rows of the
   * inner shape}
   *
   * @param name name of a field
   * @throws IllegalArgumentException if the field is not ragged
   */
  public DeviceTensor offsets(String name) {
    Objects.requireNonNull(name, "name is null");
    TensorPlace place = slot().offsets().get(name);
    if (place == null) {
      throw new IllegalArgumentException(
          "\"%s\" has no offsets; the ragged fields of %s are %s"
              .formatted(name, this, slot.offsets().keySet()));
    }
    return new DeviceTensor(this, "offsets of " + name, place);
  }

  /** {@return a weight for each sample, float32 {@code [samples]}: 0 for padding, otherwise 1} */
  public DeviceTensor weights() {
    return new DeviceTensor(this, "weights", slot().weights());
  }

  /**
   * Lets a stream wait for the copy of this batch; work queued on it afterwards sees the elements.
   * The memory of the batch is reused only after the work that is on this stream when the batch is
   * closed. Does not block.
   *
   * @param stream stream that uses the tensors: a {@code CUstream} that lives until the batch is
   *     closed; 0 is the default stream
   * @throws org.ddstore.types.DeviceException if the driver refuses
   */
  public void awaitOn(long stream) {
    slot().awaitOn(stream);
  }

  /**
   * Blocks until the elements are on the device.
   *
   * @throws org.ddstore.types.DeviceException if the copy has failed
   */
  public void synchronize() {
    slot().synchronize();
  }

  /**
   * Gives the memory back to the loader, which reuses it after the work on all streams given to
   * {@link #awaitOn}. Does not block. Idempotent.
   *
   * @throws org.ddstore.types.DeviceException if the driver refuses; the loader then fails, too
   */
  @Override
  public void close() {
    if (open.compareAndSet(true, false)) {
      loader.giveBack(slot);
    }
  }

  @Override
  public String toString() {
    return text;
  }
}
