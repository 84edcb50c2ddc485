// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import org.ddstore.Tensor;
import org.ddstore.types.DType;

/** The place of a tensor in the memory of a batch. Immutable. */
final class TensorPlace {
  /** Alignment of a tensor in bytes: what the driver gives to an allocation. */
  private static final int ALIGNMENT_BYTES = 256;

  private final long offset;
  private final long bytes;
  private final DType dtype;
  private final long[] shape;

  private TensorPlace(Tensor tensor, long offset) {
    this.offset = offset;
    this.bytes = tensor.bytes();
    this.dtype = tensor.dtype();
    this.shape = tensor.shape();
  }

  /** Places a tensor at an offset, a multiple of the alignment. */
  static TensorPlace of(Tensor tensor, long offset) {
    return new TensorPlace(tensor, offset);
  }

  long offset() {
    return offset;
  }

  long bytes() {
    return bytes;
  }

  DType dtype() {
    return dtype;
  }

  /** Returns a copy of the dimensions. */
  long[] shape() {
    return shape.clone();
  }

  /** Returns the first byte after this tensor at which another may begin. */
  long end() {
    return (offset + bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  }
}
