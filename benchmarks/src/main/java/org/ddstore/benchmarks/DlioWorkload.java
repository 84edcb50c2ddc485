// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** A workload of DLIO, with the numbers that its release 2.0.0 has for an H100. */
enum DlioWorkload {
  UNET3D(168, 146_600_628, 68_341_808, 2_097_152, 7, 4, 0.323, 0.90, 3),
  RESNET50(1024 * 1251, 114_660, 0, 150_528, 400, 8, 0.224, 0.90, 10),
  COSMOFLOW(524_288, 2_828_486, 71_311, 0, 1, 4, 0.0035, 0.70, 256);

  private final int samples;
  private final int sampleBytes;
  private final int deviationBytes;
  private final int preparedBytes;
  private final int batch;
  private final int threads;
  private final double computeSeconds;
  private final double goal;
  private final int steps;

  DlioWorkload(
      int samples,
      int sampleBytes,
      int deviationBytes,
      int preparedBytes,
      int batch,
      int threads,
      double computeSeconds,
      double goal,
      int steps) {
    this.samples = samples;
    this.sampleBytes = sampleBytes;
    this.deviationBytes = deviationBytes;
    this.preparedBytes = preparedBytes;
    this.batch = batch;
    this.threads = threads;
    this.computeSeconds = computeSeconds;
    this.goal = goal;
    this.steps = steps;
  }

  /** Returns the number of samples of the published data set. */
  int samples() {
    return samples;
  }

  /** Returns the mean size of a sample. */
  int sampleBytes() {
    return sampleBytes;
  }

  /** Returns the standard deviation of the size of a sample. */
  int deviationBytes() {
    return deviationBytes;
  }

  /** Returns the size of a sample after preprocessing; 0 if it stays the same. */
  int preparedBytes() {
    return preparedBytes;
  }

  /** Returns the number of samples of a batch of one accelerator. */
  int batch() {
    return batch;
  }

  /** Returns the number of threads or processes that read for one accelerator. */
  int threads() {
    return threads;
  }

  /** Returns the emulated compute time of a step. */
  double computeSeconds() {
    return computeSeconds;
  }

  /** Returns the utilisation from which on DLIO calls a run a success, in (0, 1]. */
  double goal() {
    return goal;
  }

  /** Returns the number of steps of an epoch by default. */
  int steps() {
    return steps;
  }

  /** Returns the rate at which one accelerator of a compute time takes bytes at a utilisation. */
  double neededBytesPerSecond(double stepSeconds, double utilisation) {
    return (double) batch * sampleBytes / stepSeconds * utilisation;
  }

  /** Returns the name in DLIO and on the command line. */
  @Override
  @JsonValue
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
