package org.ddstore.sampling;

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

  /** These samples in this order; the array is not copied. */
  static SampleOrder of(long... samples) {
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
