package org.ddstore.loader;

/**
 * The samples that make up one batch. The arrays are reused for the next batch of the same slot.
 */
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
  long[] begin(long ofEpoch, long itsNumber, int itsSize) {
    epoch = ofEpoch;
    number = itsNumber;
    size = itsSize;
    padding = 0;
    share = 1;
    if (samples.length < itsSize) {
      samples = new long[itsSize];
      positions = new long[itsSize];
    }
    return samples;
  }

  void pad(int samplesOfWeight0) {
    padding = samplesOfWeight0;
  }

  void share(double ofGlobalBatch) {
    share = ofGlobalBatch;
  }

  void position(int i, long inEpoch) {
    positions[i] = inEpoch;
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
