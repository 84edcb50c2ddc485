// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.util.List;
import java.util.Map;
import org.ddstore.benchmarks.report.Figure;

/**
 * The results of a run.
 *
 * @param figures a figure for each case and way; sections begin with {@code peers/}
 * @param peers what was run, by way
 * @param missing how to install the peers that are not, by way
 * @param failed why programs were left out, by way
 */
public record PeerReport(
    List<Figure> figures,
    Map<String, Ran> peers,
    Map<String, String> missing,
    Map<String, String> failed) {
  public static final String SECTION = "peers/";
  public static final String BASELINE = Figure.DDSTORE;

  /**
   * A program that was run.
   *
   * @param rows number of rows that it held
   * @param settings settings that matter, by name
   * @param startUs times of its start in us: import, convert
   */
  public record Ran(
      String version, int rows, Map<String, String> settings, Map<String, Double> startUs) {}

  public long mismatches() {
    return figures.stream().mapToLong(Figure::mismatches).sum();
  }

  /** Returns the figures of peers that are faster, or smaller, than the store in Python. */
  public List<Figure> wins() {
    return figures.stream()
        .filter(figure -> figure.ratio() != null && figure.ratio() < 1 && !isOurs(figure.way()))
        .toList();
  }

  static boolean isOurs(String way) {
    return way.startsWith(Figure.DDSTORE);
  }
}
