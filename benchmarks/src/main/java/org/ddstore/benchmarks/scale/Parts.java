// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.ddstore.benchmarks.report.Figure;

/** The parts of a start at one number of ranks: their times and sizes. */
final class Parts {
  static final String SECTION = "scale";
  static final String SECONDS = "s";
  static final String BYTES = "B";

  private final int ranks;
  private final Map<String, String> settings;
  private final List<Figure> figures = new ArrayList<>();

  /**
   * @param settings assumptions that the figures depend on
   */
  Parts(int ranks, Map<String, String> settings) {
    this.ranks = ranks;
    this.settings = settings;
  }

  /** Work whose processor time is measured. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  List<Figure> figures() {
    return figures;
  }

  int ranks() {
    return ranks;
  }

  /** Adds a measured time or size. */
  void add(String part, String unit, double... samples) {
    addChecked(part, unit, 0, samples);
  }

  /** Adds a measured time or size with the number of wrong results that a check has found. */
  void addChecked(String part, String unit, long mismatches, double... samples) {
    figures.add(figure(part, unit, samples).wrong(mismatches));
  }

  /** Adds a time or size that a model computes from measured ones. */
  void simulate(String part, String unit, double value) {
    figures.add(figure(part, unit, value).in(Figure.SIMULATED));
  }

  private Figure figure(String part, String unit, double... samples) {
    return Figure.of(SECTION, ranks + " ranks", way(part, unit), unit, samples).with(settings);
  }

  /** Returns the way of a figure, which tells the time of a part from its size. */
  private static String way(String part, String unit) {
    return unit.equals(BYTES) ? part + ", bytes" : part;
  }

  /** Returns the median of a part that was added. */
  double get(String part, String unit) {
    return figures.stream()
        .filter(figure -> figure.way().equals(way(part, unit)))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no part \"" + part + "\" in " + unit))
        .median();
  }

  /** Returns the processor time of the calling thread in one run of some work, in seconds. */
  static double cpuSeconds(Work work) throws Exception {
    long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    work.run();
    return (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / 1e9;
  }

  /** Returns processor times of some work, in seconds, after a run that warms up. */
  static double[] cpuSeconds(int samples, Work work) throws Exception {
    work.run();
    double[] seconds = new double[samples];
    for (int i = 0; i < samples; i++) {
      seconds[i] = cpuSeconds(work);
    }
    return seconds;
  }

  static double[] times(double factor, double... values) {
    return Arrays.stream(values).map(value -> factor * value).toArray();
  }
}
