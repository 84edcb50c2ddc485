// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.List;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;

/**
 * A field of the batches that is converted before delivery.
 *
 * @param name name of the field, both as read and as delivered
 * @param steps at least one step
 */
record OutputField(String name, List<FieldStep> steps) {
  OutputField {
    steps = List.copyOf(steps);
  }

  /**
   * @param memory one buffer per step
   */
  Tensor make(Slot slot, GrowingBuffer... memory) {
    Tensor tensor = slot.read().field(name);
    for (int step = 0; step < steps.size(); step++) {
      tensor = steps.get(step).apply(tensor, slot, memory[step]);
    }
    return tensor;
  }

  /** Returns the memory of all steps for entries with {@code inBytes} bytes of input each. */
  long capacityBytes(long entries, long inBytes) {
    long bytes = 0;
    long perEntry = inBytes;
    for (FieldStep step : steps) {
      perEntry = step.bytes(perEntry);
      bytes += GrowingBuffer.capacityFor(perEntry * entries);
    }
    return bytes;
  }
}
