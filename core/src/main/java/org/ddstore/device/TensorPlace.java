// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import java.util.Arrays;
import java.util.List;
import org.ddstore.Tensor;
import org.ddstore.types.DType;

/** The place of a tensor in the memory of a batch. Immutable. */
record TensorPlace(long offset, long bytes, DType dtype, List<Long> dimensions) {
  /** Alignment of a tensor in bytes: what the driver gives to an allocation. */
  private static final int ALIGNMENT_BYTES = 256;

  static TensorPlace of(Tensor tensor, long offset) {
    List<Long> dimensions = Arrays.stream(tensor.shape()).boxed().toList();
    return new TensorPlace(offset, tensor.bytes(), tensor.dtype(), dimensions);
  }

  long[] shape() {
    return dimensions.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns the first byte after this tensor at which another may begin. */
  long end() {
    return (offset + bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  }
}
