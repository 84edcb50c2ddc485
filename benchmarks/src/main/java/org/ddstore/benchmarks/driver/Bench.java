// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.apache.commons.math3.stat.descriptive.rank.Median;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A benchmark command. Its exit status is 1 if a byte differed from the expected one. */
public abstract class Bench implements Callable<Integer> {
  @Mixin protected Output output;

  @Spec protected CommandSpec command;

  private final List<Figure> figures = new ArrayList<>();

  /** Adds a figure to the JSON object, from which a report takes it. */
  protected final void figure(Figure figure) {
    figures.add(figure);
  }

  protected final ParameterException usage(String text) {
    return new ParameterException(command.commandLine(), text);
  }

  protected final Progress progress(int steps) {
    return Progress.open("bench " + command.name(), steps);
  }

  /**
   * Runs a measurement on ranks in JVMs of their own and returns when all ranks have ended.
   *
   * @param hosts number of hosts, 1 or 2
   * @param results receives the results of rank 0, each of which is a step of {@code progress}
   */
  protected static <T> void runOnRanks(
      RankWork work, int hosts, Class<T> type, Collection<T> results, Progress progress)
      throws IOException, InterruptedException {
    try (RankProcesses processes = RankProcesses.start(work, hosts)) {
      processes.awaitResults(
          result -> {
            results.add(type.cast(result));
            progress.stepTo(results.size());
          });
    }
  }

  /**
   * Prints a row of cells for each result.
   *
   * @param header headers, separated by a comma and a space
   */
  protected final <T> void table(String header, List<T> results, Function<T, List<Object>> cells) {
    output.table(header, results.stream().map(cells).toList());
  }

  protected final void line(String format, Object... arguments) {
    output.line(String.format(Locale.ROOT, format, arguments));
  }

  /** Ends the output and returns the exit status. */
  protected final int finish(long mismatches, List<?> results, Map<String, Object> summary) {
    Map<String, Object> all = new LinkedHashMap<>(summary);
    all.put("figures", figures);
    output.finish(mismatches, results, all);
    return mismatches == 0 ? 0 : 1;
  }

  protected static double median(double... values) {
    return new Median().evaluate(values);
  }

  /** Returns a number with a fixed number of decimals, or null. */
  protected static String fixed(int decimals, Double value) {
    return value == null ? null : String.format(Locale.ROOT, "%." + decimals + "f", value);
  }

  /** Returns a number with three decimals, or one from 10 on; null for null. */
  protected static String decimal(Double value) {
    return value == null || value < 10 ? fixed(3, value) : fixed(1, value);
  }
}
