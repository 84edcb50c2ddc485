// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.apache.spark.sql.SparkSession;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.spark.job.StartExchange;

/**
 * The start of a store by the number of ranks: real ranks of Spark, real ranks as threads, and from
 * then on the parts of a start, of which a model makes the whole.
 */
public final class ScaleMeasurement {
  /** Number of rows of the simulated stores. */
  public static final long ROWS = 1_000_000_000_000L;

  private final SparkSession session;
  private final double gigabits;
  private final double latencySeconds;
  private final int ranksPerExecutor;
  private final List<Figure> figures = new ArrayList<>();
  private final Map<Integer, Double> starts = new LinkedHashMap<>();
  private Parts threads;

  /**
   * @param session session of a driver
   * @param gigabits speed of the modelled links, in 10^9 bits per second
   * @param latencySeconds modelled time from a send to its reception
   * @param ranksPerExecutor number of ranks of a modelled executor
   */
  public ScaleMeasurement(
      SparkSession session, double gigabits, double latencySeconds, int ranksPerExecutor) {
    this.session = session;
    this.gigabits = gigabits;
    this.latencySeconds = latencySeconds;
    this.ranksPerExecutor = ranksPerExecutor;
  }

  /** Runs jobs on real ranks in executors, for each number of ranks, which must have slots. */
  public void onSpark(List<Integer> sizes, long rows, int jobs, IntConsumer done) {
    for (int ranks : sizes) {
      Parts parts = new Parts(ranks, Map.of("rows", "" + rows));
      SparkRanks.measure(session, rows, jobs, parts);
      figures.addAll(parts.figures());
      done.accept(ranks);
    }
  }

  /** Starts real ranks as threads of this JVM, for each number of ranks of at least 2. */
  public void inThreads(List<Integer> sizes, IntConsumer done) throws Exception {
    for (int ranks : sizes) {
      threads = new Parts(ranks, Map.of());
      ThreadRanks.measure(threads);
      figures.addAll(threads.figures());
      done.accept(ranks);
    }
  }

  /**
   * Measures the parts of a start and adds the model, for each number of ranks: multiples of the
   * ranks per executor, at least two executors. Call {@link #inThreads} before, whose largest size
   * gives the cost of connections and messages.
   */
  public void simulated(List<Integer> sizes, IntConsumer done) throws Exception {
    Objects.requireNonNull(threads, "inThreads() measures the cost of connections");
    StartModel model =
        new StartModel(
            gigabits,
            latencySeconds,
            threads.get(ThreadRanks.CONNECTION, Parts.SECONDS),
            threads.get(ThreadRanks.MESSAGE, Parts.SECONDS));
    for (int ranks : sizes) {
      SimulatedCluster cluster = new SimulatedCluster(ranks, ranksPerExecutor, ROWS);
      Parts parts = new Parts(ranks, settings(cluster));
      byte[][] messages = cluster.messages();
      new ProcessStart(cluster, parts).measure(StartExchange.pack(messages));
      new DriverStart(session.sparkContext(), cluster, parts).measure(messages);
      lanes(cluster, parts);
      model.complete(cluster, parts);
      starts.put(ranks, parts.get(StartModel.START, Parts.SECONDS));
      figures.addAll(parts.figures());
      done.accept(ranks);
    }
  }

  /** Measures lanes; above the limit of ranks, scales those of the limit, which are linear. */
  private void lanes(SimulatedCluster cluster, Parts parts) throws Exception {
    int limit = GroupEndpoint.MAX_SIZE;
    if (cluster.ranks() <= limit) {
      LaneReplay.measure(cluster, parts);
      return;
    }
    Parts atLimit = new Parts(limit, Map.of());
    LaneReplay.measure(new SimulatedCluster(limit, ranksPerExecutor, ROWS), atLimit);
    for (Figure figure : atLimit.figures()) {
      double scaled = figure.median() * cluster.ranks() / limit;
      parts.simulate(figure.way().replaceFirst(", bytes$", ""), figure.unit(), scaled);
    }
  }

  private Map<String, String> settings(SimulatedCluster cluster) {
    Map<String, String> settings = new LinkedHashMap<>(cluster.settings());
    settings.put("gigabitsPerSecond", "" + gigabits);
    settings.put("latencySeconds", "" + latencySeconds);
    return settings;
  }

  /** Returns all figures so far. */
  public List<Figure> figures() {
    return List.copyOf(figures);
  }

  /** Returns the modelled start of each simulated size, in seconds. */
  public Map<Integer, Double> starts() {
    return new TreeMap<>(starts);
  }

  /** Returns the largest simulated size whose start fits {@link StartModel#MAX_SECONDS}, or 0. */
  public int limit() {
    return starts.keySet().stream()
        .filter(ranks -> starts.get(ranks) <= StartModel.MAX_SECONDS)
        .mapToInt(Integer::intValue)
        .max()
        .orElse(0);
  }

  /** Returns the order of growth of each part of a simulated start, by part. */
  public Map<String, String> growth(List<Integer> sizes) {
    Map<String, Growth> all = new LinkedHashMap<>();
    for (Figure figure : figures) {
      int ranks = Integer.parseInt(figure.subject().split(" ", 2)[0]);
      if (sizes.contains(ranks) && figure.settings().containsKey("ranksPerExecutor")) {
        all.computeIfAbsent(figure.way(), way -> new Growth()).add(ranks, figure.median());
      }
    }
    Map<String, String> texts = new LinkedHashMap<>();
    all.forEach((part, growth) -> texts.put(part, growth.toString()));
    return texts;
  }
}
