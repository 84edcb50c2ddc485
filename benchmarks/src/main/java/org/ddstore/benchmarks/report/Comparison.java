// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.commons.math3.stat.StatUtils;
import org.apache.commons.math3.stat.inference.MannWhitneyUTest;
import org.ddstore.types.DDStoreException;

/**
 * The figures of two reports that differ by more than the noise. Rounds are compared by the
 * Mann-Whitney U test.
 *
 * @param compared number of figures that both reports have, with enough rounds to tell
 * @param undecided figures of both reports with fewer than 5 rounds
 * @param changes figures that have changed, the largest growth first
 * @param onlyOld figures of the old report alone
 * @param onlyNew figures of the new report alone
 */
public record Comparison(
    int compared,
    List<String> undecided,
    List<Change> changes,
    List<String> onlyOld,
    List<String> onlyNew) {
  /** Fewer rounds do not tell a change from chance by the test. */
  private static final int MIN_ROUNDS = 5;

  /** What rounds that are alike exceed in one of so many figures, by chance. */
  public static final double SIGNIFICANCE = 0.01;

  /**
   * A figure of two reports.
   *
   * @param figure its section, subject, way and phase
   * @param quantity what is compared: {@code ratio}, or the unit of its samples
   * @param change the new median to the old one, less 1
   * @param probability of such rounds if nothing had changed
   */
  public record Change(
      String figure,
      String quantity,
      double oldMedian,
      double newMedian,
      double change,
      double probability) {
    private static Change of(String figure, JsonNode old, JsonNode recent) {
      boolean haveRatios = old.path("ratios").size() > 1 && recent.path("ratios").size() > 1;
      String key = haveRatios ? "ratios" : "samples";
      double[] before = values(old.path(key));
      double[] after = values(recent.path(key));
      double oldMedian = StatUtils.percentile(before, 50);
      double newMedian = StatUtils.percentile(after, 50);
      return new Change(
          figure,
          haveRatios ? "ratio" : old.path("unit").asText(),
          oldMedian,
          newMedian,
          newMedian / oldMedian - 1,
          new MannWhitneyUTest().mannWhitneyUTest(before, after));
    }

    private static double[] values(JsonNode array) {
      double[] values = new double[array.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = array.get(i).asDouble();
      }
      return values;
    }
  }

  /**
   * Compares two files.
   *
   * @param smallest smallest change of a median that counts, as a share of the old one
   * @throws DDStoreException if a file is not a report
   */
  public static Comparison of(Path oldFile, Path newFile, double smallest) throws IOException {
    Map<String, JsonNode> old = figures(oldFile);
    Map<String, JsonNode> recent = figures(newFile);
    List<Change> all = new ArrayList<>();
    List<String> undecided = new ArrayList<>();
    old.forEach(
        (name, figure) -> {
          if (recent.containsKey(name) && isShort(figure, recent.get(name))) {
            undecided.add(name);
          } else if (recent.containsKey(name)) {
            all.add(Change.of(name, figure, recent.get(name)));
          }
        });
    List<Change> changes = new ArrayList<>();
    for (Change change : all) {
      if (change.probability() < SIGNIFICANCE && Math.abs(change.change()) >= smallest) {
        changes.add(change);
      }
    }
    changes.sort(Comparator.comparingDouble(Change::change).reversed());
    return new Comparison(all.size(), undecided, changes, less(old, recent), less(recent, old));
  }

  private static boolean isShort(JsonNode old, JsonNode recent) {
    return Math.min(old.path("samples").size(), recent.path("samples").size()) < MIN_ROUNDS;
  }

  private static List<String> less(Map<String, JsonNode> all, Map<String, JsonNode> others) {
    TreeSet<String> names = new TreeSet<>(all.keySet());
    names.removeAll(others.keySet());
    return List.copyOf(names);
  }

  private static Map<String, JsonNode> figures(Path file) throws IOException {
    JsonNode figures = new ObjectMapper().readTree(file.toFile()).path("figures");
    if (!figures.isArray()) {
      throw new DDStoreException(
          "%s is not a report: it has no figures; use the report.json that bench writes"
              .formatted(file));
    }
    Map<String, JsonNode> byName = new LinkedHashMap<>();
    for (JsonNode figure : figures) {
      if (figure.path("samples").size() > 0) {
        byName.put(
            "%s, %s, %s, %s"
                .formatted(
                    figure.path("section").asText(),
                    figure.path("subject").asText(),
                    figure.path("way").asText(),
                    figure.path("phase").asText()),
            figure);
      }
    }
    return byName;
  }
}
