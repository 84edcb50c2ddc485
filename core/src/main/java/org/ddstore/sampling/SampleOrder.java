// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/**
 * The order of the samples of one epoch: a sample number for each position, computed per position,
 * so that an epoch can begin anywhere. Used by one thread at a time.
 */
public interface SampleOrder {
  /** {@return the number of positions} */
  long size();

  /**
   * {@return the sample at a position}
   *
   * @param position in [0, size), not checked
   */
  long at(long position);

  /**
   * Writes the samples at consecutive positions.
   *
   * @param first first position; all positions are in [0, size), which is not checked
   * @param samples receives {@code count} numbers from index 0 on
   * @param count number of positions
   */
  default void fill(long first, long[] samples, int count) {
    for (int i = 0; i < count; i++) {
      samples[i] = at(first + i);
    }
  }

  /**
   * {@return an order of these samples; the array is not copied}
   *
   * @param samples sample at each position
   */
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
