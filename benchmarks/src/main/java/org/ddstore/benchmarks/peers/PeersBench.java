// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.math3.stat.StatUtils;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.ClusterOptions;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that reads the same rows from a store and by other programs. */
@Command(
    name = "peers",
    mixinStandardHelpOptions = true,
    description = {
      "Reads the same rows by programs that take turns: from a store in Python and in Java, mapped"
          + " and over the executors' ports; by NumPy and PyTorch; and by the peers that are"
          + " installed, each in an environment of its own with locked versions.",
      "Every epoch is checked for rows that are missing or doubled, and every value is compared in"
          + " its first turn, which is not counted.",
      "Exit status 1 if a row was wrong or a program failed."
    })
public final class PeersBench extends Bench {
  private static final int RANKS = 2;
  private static final int MAX_PATIENCE = 3600;
  private static final PeerPlan QUICK = PeerPlan.quick();

  @Option(
      names = "--rows",
      paramLabel = "N",
      description =
          "Number of rows; ${DEFAULT-VALUE} by default. Peers that convert or read one row at a time"
              + " hold at most 20000 of them.")
  private int rows = QUICK.rows();

  @Option(
      names = "--row-bytes",
      paramLabel = "N",
      description = "Size of a dense row, a multiple of 4; ${DEFAULT-VALUE} by default.")
  private int rowBytes = QUICK.rowBytes();

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Rows per batch; ${DEFAULT-VALUE} by default.")
  private int batch = QUICK.batch();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds after one warm-up round; ${DEFAULT-VALUE} by default.")
  private int rounds = QUICK.rounds();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds per turn, in whole epochs; ${DEFAULT-VALUE} by default.")
  private double seconds = QUICK.seconds();

  @Option(
      names = "--only",
      paramLabel = "WAY",
      split = ",",
      description = "Programs of this checkout to run; all by default, none for no one.")
  private List<String> only = Stream.of(KnownPeer.values()).map(KnownPeer::way).toList();

  @Option(
      names = "--case",
      paramLabel = "NAME",
      split = ",",
      description = "What to measure; all by default.")
  private List<String> cases = Stream.of(PeerCase.values()).map(PeerCase::toString).toList();

  @Option(
      names = "--peer",
      paramLabel = "NAME=COMMAND",
      description =
          "Another program to measure, by a command of /bin/sh to which the path of a task is added;"
              + " it speaks the protocol of docs/peers.md. Can be repeated.")
  private Map<String, String> foreign = new LinkedHashMap<>();

  @Option(
      names = "--patience",
      paramLabel = "S",
      description =
          "Seconds within which a program must answer, or is killed; ${DEFAULT-VALUE} by default.")
  private double patience = 120;

  @Option(
      names = "--python",
      paramLabel = "PROGRAM",
      description =
          "Python 3.10 or later with NumPy and PyTorch, for the programs without an environment of"
              + " their own; ${DEFAULT-VALUE} by default.")
  private String interpreter = QUICK.interpreter();

  @Option(
      names = "--install-peers",
      description =
          "Install the environments of the peers in the user's cache folder, and do nothing else.")
  private boolean isInstall;

  @Mixin private ClusterOptions cluster;

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange.check(command, "--rows", rows, 1, PeerRows.MAX_ROWS);
    OptionRange.check(command, "--row-bytes", rowBytes, Float.BYTES, 1 << 20);
    if (rowBytes % Float.BYTES != 0) {
      throw usage("--row-bytes %d: not a multiple of 4".formatted(rowBytes));
    }
    OptionRange.check(command, "--batch", batch, 1, 1 << 16);
    OptionRange.checkSeconds(command, seconds);
    OptionRange.check(command, "--rounds", rounds, 1, 1000);
    if (!(patience > 0 && patience <= MAX_PATIENCE)) {
      throw usage("--patience: %s outside (0, %d]".formatted(patience, MAX_PATIENCE));
    }
    List<KnownPeer> known =
        chosen("--only", only, List.of(KnownPeer.values()), KnownPeer::way, "none");
    List<PeerCase> wanted =
        chosen("--case", cases, List.of(PeerCase.values()), PeerCase::toString, null);
    for (String name : foreign.keySet()) {
      if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]*")
          || PeerReport.isOurs(name)
          || Stream.of(KnownPeer.values()).anyMatch(peer -> peer.way().equals(name))) {
        throw usage(
            "--peer %s: give a name of letters, digits, dots and dashes that does not begin with ddstore and is none of %s"
                .formatted(name, ways(List.of(KnownPeer.values()))));
      }
    }
    if (isInstall) {
      return install(known);
    }
    PeerPlan plan =
        new PeerPlan(
            rows,
            QUICK.slowRows(),
            rowBytes,
            batch,
            rounds,
            seconds,
            EnumSet.copyOf(wanted),
            known,
            foreign,
            interpreter,
            Duration.ofMillis((long) (patience * 1000)));
    if (known.stream().noneMatch(KnownPeer::isOurs)) {
      try (Progress progress = progress(plan.steps())) {
        return report(PeerRun.measure(plan, steps(progress)));
      }
    }
    try (EmbeddedSpark spark = cluster.open(RANKS, Map.of());
        Progress progress = progress(plan.steps())) {
      return report(PeerRun.measure(spark, cluster::on, plan, steps(progress)));
    }
  }

  private static PeerSteps steps(Progress progress) {
    return (step, all, activity) -> {
      progress.stepTo(step);
      progress.describe(activity);
    };
  }

  private <T> List<T> chosen(
      String option, List<String> names, List<T> all, Function<T, String> name, String none) {
    if (names.equals(List.of(none == null ? "" : none))) {
      return List.of();
    }
    Map<String, T> byName = new LinkedHashMap<>();
    all.forEach(each -> byName.put(name.apply(each), each));
    for (String given : names) {
      if (!byName.containsKey(given)) {
        throw usage(
            "%s %s: unknown value; legal values: %s"
                .formatted(option, given, String.join(", ", byName.keySet())));
      }
    }
    return all.stream().filter(each -> names.contains(name.apply(each))).toList();
  }

  private static String ways(List<KnownPeer> peers) {
    return peers.stream().map(KnownPeer::way).collect(Collectors.joining(", "));
  }

  private int install(List<KnownPeer> peers) throws IOException {
    Map<String, String> failed = new TreeMap<>();
    List<String> installed = new ArrayList<>();
    try (Progress progress = progress(peers.size())) {
      for (int i = 0; i < peers.size(); i++) {
        KnownPeer peer = peers.get(i);
        progress.describe("installs " + peer.way());
        try {
          peer.install();
          if (peer.environment().isPresent()) {
            installed.add(peer.way());
          }
        } catch (DDStoreException e) {
          failed.put(peer.way(), e.getMessage());
        }
        progress.stepTo(i + 1);
      }
    }
    line("installed in %s: %s", PeerEnvironment.cache(), String.join(", ", installed));
    failed.values().forEach(reason -> line("%s", reason));
    finish(0, installed, Map.of("failed", failed));
    return failed.isEmpty() ? 0 : 1;
  }

  private int report(PeerReport report) {
    List<Figure> wins = report.wins();
    wins.forEach(
        win ->
            line(
                "%s, %s: %s takes %.2f of what ddstore takes%s",
                win.section().substring(PeerReport.SECTION.length()),
                win.subject(),
                win.way(),
                win.ratio(),
                win.settings().get("rows").equals(Integer.toString(rows))
                    ? ""
                    : ", with %s rows".formatted(win.settings().get("rows"))));
    if (wins.isEmpty() && report.peers().containsKey(PeerReport.BASELINE)) {
      line("no peer is ahead of ddstore");
    }
    Map<String, List<Figure>> tables = new LinkedHashMap<>();
    for (Figure figure : report.figures()) {
      tables
          .computeIfAbsent(figure.section() + ", " + figure.subject(), any -> new ArrayList<>())
          .add(figure);
    }
    tables.forEach(
        (title, figures) -> {
          line("%s", title.substring(PeerReport.SECTION.length()));
          table(
              "way, rows, %s, range, to ddstore, mismatches".formatted(figures.get(0).unit()),
              figures,
              PeersBench::cells);
        });
    line(
        "medians of %s; to ddstore: ratio to its Python package in the same round; numpy.take"
            + " is the limit of one thread",
        Plural.of(rounds, "round"));
    report
        .peers()
        .forEach(
            (way, ran) ->
                line(
                    "%s %s: %s",
                    way,
                    ran.version(),
                    ran.settings().entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue())
                        .collect(Collectors.joining("; "))));
    report.missing().forEach((way, remedy) -> line("%s is not installed: %s", way, remedy));
    report.failed().forEach((way, reason) -> line("failed: %s", reason));
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("rows", rows);
    summary.put("rowBytes", rowBytes);
    summary.put("batch", batch);
    summary.put("peers", report.peers());
    summary.put("missing", report.missing());
    summary.put("failed", report.failed());
    report.figures().forEach(this::figure);
    int status = finish(report.mismatches(), List.of(), summary);
    return report.failed().isEmpty() ? status : 1;
  }

  private static List<Object> cells(Figure figure) {
    double[] samples = figure.samples();
    return Arrays.asList(
        figure.way(),
        Integer.valueOf(figure.settings().get("rows")),
        decimal(figure.median()),
        decimal(StatUtils.min(samples)) + " to " + decimal(StatUtils.max(samples)),
        figure.way().equals(PeerReport.BASELINE) ? "1" : fixed(2, figure.ratio()),
        figure.mismatches());
  }
}
