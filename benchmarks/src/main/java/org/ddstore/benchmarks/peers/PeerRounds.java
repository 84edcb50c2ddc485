// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.commons.math3.stat.StatUtils;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;

/**
 * The turns that programs take. A program that breaks the protocol is left out from then on, one
 * that reports an error from that case, with the reason. For one thread.
 */
final class PeerRounds {
  /** A shorter one brings nothing into another form. */
  private static final double LEAST_CONVERSION_US = 1000;

  private final PeerPlan plan;
  private final Map<String, PeerProcess> running = new LinkedHashMap<>();
  private final Map<String, PeerReport.Ran> ran = new LinkedHashMap<>();
  private final Map<String, String> missing = new LinkedHashMap<>();
  private final Map<String, String> failed = new TreeMap<>();
  private final List<Figure> figures = new ArrayList<>();
  private final PeerSteps steps;
  private int step;

  PeerRounds(PeerPlan plan, PeerSteps steps) {
    this.plan = plan;
    this.steps = steps;
  }

  /** Starts a program. */
  @FunctionalInterface
  interface Start {
    PeerProcess start() throws IOException;
  }

  /** Adds a program, unless it cannot be started. Blocks while it converts the rows. */
  void add(String way, Start start) throws IOException {
    begin("starts " + way);
    try {
      PeerProcess process = start.start();
      PeerProcess.Hello hello = process.hello();
      running.put(way, process);
      ran.put(
          way,
          new PeerReport.Ran(hello.version(), hello.rows(), hello.settings(), hello.startUs()));
    } catch (DDStoreException e) {
      boolean isMissing = e.getMessage().contains("ModuleNotFoundError");
      (isMissing ? missing : failed).put(way, e.getMessage());
    }
  }

  /** Notes that a program is not installed. */
  void miss(String way, String remedy) {
    begin("misses " + way);
    missing.put(way, remedy);
  }

  private void begin(String activity) {
    steps.begin(step++, plan.steps(), activity);
  }

  /** Measures all cases, and ends the programs. */
  PeerReport measure() throws IOException, InterruptedException {
    for (PeerCase each : PeerCase.values()) {
      if (plan.cases().contains(each)) {
        if (each == PeerCase.MEMORY) {
          for (int workers : PeerPlan.WORKERS) {
            measure(each, 1, workers);
          }
        } else {
          measure(each, plan.rounds() + 1, 0);
        }
      }
    }
    convert();
    for (PeerProcess process : running.values()) {
      process.end();
    }
    return new PeerReport(figures, ran, missing, failed);
  }

  /** Lets the programs take turns; the first of several rounds warms up. */
  private void measure(PeerCase wanted, int rounds, int workers) throws IOException {
    Map<String, List<Double>> values = new LinkedHashMap<>();
    Map<String, List<Double>> opens = new LinkedHashMap<>();
    Map<String, Long> mismatches = new LinkedHashMap<>();
    Set<String> erring = new HashSet<>();
    for (int round = 0; round < rounds; round++) {
      begin(wanted + (workers == 0 ? "" : "-" + workers));
      for (PeerProcess process : List.copyOf(running.values())) {
        String way = process.name();
        if (!process.hello().cases().contains(wanted) || erring.contains(way)) {
          continue;
        }
        PeerTurn turn;
        try {
          turn = process.turn(wanted, plan.seconds(), workers);
        } catch (DDStoreException e) {
          failed.merge(way, e.getMessage(), (first, second) -> first + "; " + second);
          erring.add(way);
          values.remove(way);
          if (process.isUnusable()) {
            running.remove(way);
            process.kill();
          }
          continue;
        }
        mismatches.merge(way, turn.mismatches(), Long::sum);
        if (round > 0 || rounds == 1) {
          values.computeIfAbsent(way, any -> new ArrayList<>()).add(turn.value());
          opens.computeIfAbsent(way, any -> new ArrayList<>()).add(turn.openMs());
        }
      }
    }
    List<Double> baseline = values.get(PeerReport.BASELINE);
    List<Double> limit = values.get(KnownPeer.TAKE.way());
    values.forEach(
        (way, samples) -> {
          Map<String, String> settings = settings(way);
          if (wanted == PeerCase.START) {
            settings.put("openMs", number(StatUtils.percentile(array(opens.get(way)), 50)));
            settings.put(
                "importMs", number(ran.get(way).startUs().getOrDefault("import", 0.0) / 1e3));
          }
          Figure figure =
              Figure.of(
                      PeerReport.SECTION + wanted,
                      workers == 0 ? subject(wanted) : Plural.of(workers, "worker"),
                      way,
                      wanted.unit(),
                      array(samples))
                  .wrong(mismatches.get(way))
                  .with(settings);
          if (way.equals(KnownPeer.TAKE.way())) {
            figure = figure.asLimit();
          }
          if (way.equals(PeerReport.BASELINE)) {
            figures.add(limit == null ? figure : figure.to(KnownPeer.TAKE.way(), array(limit)));
          } else {
            figures.add(
                baseline == null ? figure : figure.to(PeerReport.BASELINE, array(baseline)));
          }
        });
  }

  /** Adds the time that each program took to bring the rows into its own form. */
  private void convert() {
    ran.forEach(
        (way, program) -> {
          double micros = program.startUs().getOrDefault("convert", 0.0);
          if (micros > LEAST_CONVERSION_US && !PeerReport.isOurs(way)) {
            figures.add(
                Figure.of(
                        PeerReport.SECTION + "convert",
                        "rows of %d B".formatted(plan.rowBytes()),
                        way,
                        "µs/row",
                        micros / program.rows())
                    .in(Figure.COLD)
                    .with(settings(way)));
          }
        });
  }

  private String subject(PeerCase wanted) {
    return switch (wanted) {
      case SINGLE -> "rows of %d B".formatted(plan.rowBytes());
      case SPARSE_BATCH, SPARSE_EPOCH, SPARSE_CHUNKS ->
          "rows of %d values, batches of %d".formatted(PeerRows.VALUES, plan.batch());
      default -> "rows of %d B, batches of %d".formatted(plan.rowBytes(), plan.batch());
    };
  }

  private Map<String, String> settings(String way) {
    PeerReport.Ran program = ran.get(way);
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("version", program.version());
    settings.put("rows", Integer.toString(program.rows()));
    settings.putAll(program.settings());
    return settings;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }

  private static double[] array(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }
}
