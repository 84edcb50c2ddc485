package org.ddstore.sampling;

import java.util.Objects;

/**
 * The order of the samples of one epoch: a sample number for each position. Computed place by
 * place, so that an epoch can begin anywhere. Used by one thread at a time.
 */
public interface SampleOrder {
  /** How many positions there are. */
  long size();

  /**
   * The sample at a position.
   *
   * @param position of [0, size), not checked
   */
  long at(long position);

  /**
   * The samples at consecutive positions.
   *
   * @param first of them; all are in [0, size), which is not checked
   * @param samples gets {@code count} numbers from 0 on
   */
  default void fill(long first, long[] samples, int count) {
    for (int i = 0; i < count; i++) {
      samples[i] = at(first + i);
    }
  }

  /** These samples in this order; the array is not copied. */
  static SampleOrder of(long... samples) {
    Objects.requireNonNull(samples, "samples is null");
    return new SampleOrder() {
      @Override
      public long size() {
        return samples.length;
      }

      @Override
      public long at(long position) {
        return samples[(int) position];
      }
    };
  }
}
