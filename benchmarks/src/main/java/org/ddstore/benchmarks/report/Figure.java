// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.commons.math3.stat.StatUtils;

/**
 * A measured quantity of a report, of which less is better. Section, subject, way and phase
 * together identify it.
 *
 * @param section what is measured, such as {@code epoch}
 * @param subject the case of the section, such as {@code rows of 256 B}
 * @param way who is measured, such as {@code ddstore} or the name of a peer
 * @param phase {@link #WARM}, {@link #COLD} or {@link #SIMULATED}
 * @param unit unit of the samples, such as {@code µs/row}
 * @param samples the raw samples, one a round, at least one
 * @param baseline the way of the same section and subject to which the ratios are; null for none
 * @param ratios sample of this way to that of the baseline, by round, or one of medians where
 *     rounds have no pairs; null without a baseline
 * @param mismatches number of rows or values that differ from the expected ones
 * @param settings settings that a reader needs to repeat the measurement
 */
@SuppressWarnings("ArrayRecordComponent") // raw samples, which nobody compares
public record Figure(
    String section,
    String subject,
    String way,
    String phase,
    String unit,
    double[] samples,
    String baseline,
    double[] ratios,
    long mismatches,
    Map<String, String> settings)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  private static final MathContext DIGITS = new MathContext(5);

  /** The way that is this project. */
  public static final String DDSTORE = "ddstore";

  static final String ROLE = "role";
  static final String LIMIT = "limit";

  /** After a warm-up. */
  public static final String WARM = "warm";

  /** The first time, with what is done once. */
  public static final String COLD = "cold";

  /** Not measured but computed by a stated model. */
  public static final String SIMULATED = "simulated";

  /** Rounds numbers to what is measured: five digits. */
  public Figure {
    samples = rounded(samples);
    ratios = ratios == null ? null : rounded(ratios);
    settings = Map.copyOf(settings);
  }

  private static double[] rounded(double... values) {
    return Arrays.stream(values)
        .map(value -> new BigDecimal(value).round(DIGITS).doubleValue())
        .toArray();
  }

  /** Returns a warm figure without a baseline and without settings. */
  public static Figure of(
      String section, String subject, String way, String unit, double... samples) {
    return new Figure(section, subject, way, WARM, unit, samples, null, null, 0, Map.of());
  }

  /** Returns this figure with ratios to a baseline, whose samples have the same unit. */
  public Figure to(String name, double... of) {
    double[] pairs;
    if (of.length == samples.length) {
      pairs = new double[of.length];
      for (int i = 0; i < of.length; i++) {
        pairs[i] = samples[i] / of[i];
      }
    } else {
      pairs = new double[] {median() / StatUtils.percentile(of, 50)};
    }
    return new Figure(
        section, subject, way, phase, unit, samples, name, pairs, mismatches, settings);
  }

  /** Returns this figure with another phase. */
  public Figure in(String other) {
    return new Figure(
        section, subject, way, other, unit, samples, baseline, ratios, mismatches, settings);
  }

  /** Returns this figure with a number of mismatches. */
  public Figure wrong(long rows) {
    return new Figure(
        section, subject, way, phase, unit, samples, baseline, ratios, rows, settings);
  }

  /** Returns this figure as that of a limit, which is no alternative to a store. */
  public Figure asLimit() {
    Map<String, String> more = new LinkedHashMap<>(settings);
    more.put(ROLE, LIMIT);
    return with(more);
  }

  /** Returns this figure with settings. */
  public Figure with(Map<String, String> published) {
    return new Figure(
        section, subject, way, phase, unit, samples, baseline, ratios, mismatches, published);
  }

  /** Returns the median of the samples. */
  @JsonProperty
  public double median() {
    return StatUtils.percentile(samples, 50);
  }

  /** Returns the 95th percentile of the samples. */
  @JsonProperty
  public double p95() {
    return StatUtils.percentile(samples, 95);
  }

  /** Returns the median of the ratios; null without a baseline. */
  @JsonProperty
  public Double ratio() {
    return ratios == null ? null : (Double) StatUtils.percentile(ratios, 50);
  }
}
