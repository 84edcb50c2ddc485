// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** A sampler of samples by number. A dropped end moves by its length in each epoch. */
final class SequentialSampler implements Sampler {
  @Override
  public String describe() {
    return "sequential";
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    return new Rotation(epoch.samples(), epoch.drift());
  }

  private record Rotation(long size, long start) implements SampleOrder {
    @Override
    public long at(long position) {
      long sample = position + start;
      return sample >= size ? sample - size : sample;
    }
  }
}
