package org.ddstore.loader;

import java.util.List;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;

/**
 * A field of the batches that is not given out as it was read.
 *
 * @param name of the field, as it is read and given out
 * @param steps at least one
 */
record Output(String name, List<FieldStep> steps) {
  Output {
    steps = List.copyOf(steps);
  }

  /**
   * Runs the steps.
   *
   * @param memory one for each step
   */
  Tensor make(Slot slot, GrowingBuffer... memory) {
    Tensor tensor = slot.read().field(name);
    for (int step = 0; step < steps.size(); step++) {
      tensor = steps.get(step).apply(tensor, slot, memory[step]);
    }
    return tensor;
  }

  /** Memory of all steps for so many entries with so many bytes of the input each. */
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
