// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;

/** A step that makes another tensor of a field: cropped, padded, or of another type. Immutable. */
interface FieldStep {
  /**
   * Writes the new tensor.
   *
   * @param in the field as the previous step left it
   * @param slot the batch, for its samples and row offsets
   * @param memory memory of the result, owned by this step
   */
  Tensor apply(Tensor in, Slot slot, GrowingBuffer memory);

  /** Returns the bytes of the result for a sample with {@code inBytes} bytes of the field. */
  long bytes(long inBytes);
}
