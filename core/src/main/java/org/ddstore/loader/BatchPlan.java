// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

/** The samples of one batch. The arrays are reused for the next batch of the same slot. */
final class BatchPlan {
  private long epoch;
  private long number;
  private int size;
  private int padding;
  private double share;
  private long[] samples = new long[0];
  private long[] positions = new long[0];

  /**
   * Begins another batch, without padding and with the full share of its global batch.
   *
   * @return array for the sample numbers, to be filled from index 0
   */
  long[] begin(long epoch, long number, int size) {
    this.epoch = epoch;
    this.number = number;
    this.size = size;
    padding = 0;
    share = 1;
    if (samples.length < size) {
      samples = new long[size];
      positions = new long[size];
    }
    return samples;
  }

  void pad(int padding) {
    this.padding = padding;
  }

  void share(double share) {
    this.share = share;
  }

  void position(int i, long position) {
    positions[i] = position;
  }

  long epoch() {
    return epoch;
  }

  long number() {
    return number;
  }

  int size() {
    return size;
  }

  int padding() {
    return padding;
  }

  double share() {
    return share;
  }

  long sample(int i) {
    return samples[i];
  }

  long position(int i) {
    return positions[i];
  }

  long[] samples() {
    return samples;
  }
}
