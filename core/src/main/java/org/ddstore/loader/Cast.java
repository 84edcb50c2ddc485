// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.ValueCast;

/** A conversion to another element type, after steps that a reader cannot do while it reads. */
record Cast(ValueCast values) implements FieldStep {
  @Override
  public long bytes(long inBytes) {
    return inBytes / values.from().bytes() * values.to().bytes();
  }

  @Override
  public Tensor apply(Tensor in, Slot slot, GrowingBuffer memory) {
    int elements = Math.toIntExact(in.elements());
    int bytes = Math.toIntExact((long) elements * values.to().bytes());
    ByteBuffer target = memory.ensure(bytes);
    values.apply(in.asByteBuffer(), 0, target, 0, elements);
    return Tensor.wrap(values.to(), target.slice(0, bytes), in.shape());
  }
}
