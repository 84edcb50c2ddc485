// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.sampling.Crop;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/** A crop of a box out of each sample of a fixed field, copied in runs of the last dimension. */
final class CropStep implements FieldStep {
  private final DType dtype;
  private final Crop crop;
  private final int[] outer;
  private final int[] box;
  private final int fieldBytes;
  private final int boxBytes;

  CropStep(Field field, Crop crop) {
    this.dtype = field.dtype();
    this.crop = crop;
    this.outer = field.shape();
    this.box = crop.shape();
    this.fieldBytes = field.bytes();
    int elements = 1;
    for (int dimension : box) {
      elements *= dimension;
    }
    this.boxBytes = elements * dtype.bytes();
  }

  @Override
  public long bytes(long inBytes) {
    return boxBytes;
  }

  @Override
  public Tensor apply(Tensor in, Slot slot, GrowingBuffer memory) {
    int samples = Math.toIntExact(in.rows());
    ByteBuffer source = in.asByteBuffer();
    ByteBuffer target = memory.ensure((long) samples * boxBytes);
    int[] origin = new int[box.length];
    for (int i = 0; i < samples; i++) {
      crop.origin(slot.plan().epoch(), slot.plan().position(i), slot.plan().sample(i), origin);
      cut(source, i * fieldBytes, target, i * boxBytes, origin);
    }
    long[] shape = in.shape();
    for (int d = 0; d < box.length; d++) {
      shape[d + 1] = box[d];
    }
    return Tensor.wrap(dtype, target.slice(0, samples * boxBytes), shape);
  }

  /** Copies the runs of one box; the position of a run counts up like the digits of a number. */
  private void cut(ByteBuffer source, int sourceAt, ByteBuffer target, int targetAt, int[] origin) {
    int last = box.length - 1;
    int runBytes = box[last] * dtype.bytes();
    int runs = boxBytes / runBytes;
    for (int run = 0; run < runs; run++) {
      int rest = run;
      int element = origin[last];
      int stride = outer[last];
      for (int d = last - 1; d >= 0; d--) {
        element += (origin[d] + rest % box[d]) * stride;
        rest /= box[d];
        stride *= outer[d];
      }
      target.put(targetAt + run * runBytes, source, sourceAt + element * dtype.bytes(), runBytes);
    }
  }
}
