package org.ddstore.loader;

import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;

/** Makes another tensor of a field: cropped, padded, or of another type. Immutable. */
interface FieldStep {
  /**
   * Writes the new tensor.
   *
   * @param in the field as the step before left it
   * @param slot the batch, for its samples and for row offsets
   * @param memory of the result, this step's own
   */
  Tensor apply(Tensor in, Slot slot, GrowingBuffer memory);

  /** Bytes of the result for a sample that has {@code inBytes} bytes of the field. */
  long bytes(long inBytes);
}
