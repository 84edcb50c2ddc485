// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.types.DType;

/**
 * A dense, row-major array in memory of a device: a view of a {@link DeviceBatch}, valid until the
 * batch is closed. Its elements are there once the batch's copy is complete: a stream waits for it
 * by {@link #awaitOn}, a thread by {@link #synchronize}. Used by one thread at a time.
 */
public final class DeviceTensor {
  private final DeviceBatch batch;
  private final String name;
  private final TensorPlace place;

  DeviceTensor(DeviceBatch batch, String name, TensorPlace place) {
    this.batch = batch;
    this.name = name;
    this.place = place;
  }

  /**
   * {@return the address of the first element on the device, aligned to 256 bytes; 0 if there are
   * no elements} In CUDA a {@code CUdeviceptr} of the device's primary context, which the CUDA
   * runtime uses, too. The address becomes invalid when the batch is closed.
   */
  public long address() {
    long start = batch.slot().address();
    return place.bytes() == 0 ? 0 : start + place.offset();
  }

  /** {@return the number of the device} */
  public int device() {
    return batch.device();
  }

  /** {@return the element type} */
  public DType dtype() {
    return place.dtype();
  }

  /** {@return a copy of the dimensions} */
  public long[] shape() {
    return place.shape();
  }

  /** {@return the size of all elements in bytes} */
  public long bytes() {
    return place.bytes();
  }

  /**
   * Lets a stream wait for the copy of this batch, as {@link DeviceBatch#awaitOn}.
   *
   * @param stream stream that uses the tensor: a {@code CUstream}; 0 is the default stream
   */
  public void awaitOn(long stream) {
    batch.awaitOn(stream);
  }

  /** Blocks until the elements are on the device, as {@link DeviceBatch#synchronize}. */
  public void synchronize() {
    batch.synchronize();
  }

  /**
   * Queues a copy of the elements to other memory of the device on a stream, after {@link #awaitOn}
   * of it. For frameworks that cannot use memory of others: the copy stays on the device. Does not
   * block.
   *
   * @param target address on the device, with room for {@link #bytes()} bytes
   * @param stream stream that uses the target: a {@code CUstream}; 0 is the default stream
   */
  public void copyTo(long target, long stream) {
    batch.awaitOn(stream);
    if (place.bytes() > 0) {
      batch.slot().stream().copyWithin(target, address(), place.bytes(), stream);
    }
  }

  /** {@return the elements' little-endian bytes, copied to the host} Blocks. For checks. */
  public byte[] toByteArray() {
    ByteBuffer host = ByteBuffer.allocateDirect(Math.toIntExact(place.bytes()));
    if (place.bytes() > 0) {
      batch.slot().stream().copyOut(host, address());
      batch.slot().stream().synchronize();
    }
    byte[] bytes = new byte[host.capacity()];
    host.get(0, bytes);
    return bytes;
  }

  @Override
  public String toString() {
    return "\"%s\" %s%s of %s"
        .formatted(name, place.dtype(), Arrays.toString(place.shape()), batch);
  }
}
