// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.peers.KnownPeer;
import org.ddstore.benchmarks.peers.PeerEnvironment;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.Progress;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The command that runs DLIO on a store and on files. */
@Command(
    name = "dlio",
    mixinStandardHelpOptions = true,
    description = {
      "Runs the benchmark DLIO (the package dlio-benchmark) with its workloads for an H100, on rows"
          + " of a store and on files in /dev/shm, and quotes its accelerator utilisation (AU) and"
          + " throughput.",
      "Sizes of samples, batches and compute times are those of the workloads; the number of"
          + " samples is scaled. One accelerator is emulated: its compute is a sleep. Files are"
          + " .npz for all workloads, because DLIO reads .tfrecord only with TensorFlow.",
      "The result may be called DLIO-configured; it is not one of MLPerf Storage.",
      "--install installs DLIO, once."
    })
final class DlioBench extends Bench {
  private static final String SECTION = "dlio";

  /** The setting of the evaluation of PyDAOS: samples of unet3d, batches of 7. */
  private static final int RANKS_PER_NODE = 12;

  private static final int STEPS = 100;
  private static final double STEP_SECONDS = 0.093254;
  private static final double UTILISATION = 0.9;
  private static final int MAX_NODES = 512;
  private static final double GIB = 1 << 30;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      split = ",",
      description = "unet3d, resnet50 or cosmoflow, or several of them; all by default.")
  private List<DlioWorkload> workloads;

  @Option(
      names = "--way",
      paramLabel = "WAY",
      split = ",",
      description = {
        "loader, reader or files, or several of them; all by default:",
        "whole batches of a store, its rows one by one for DLIO's own loader, files for DLIO's own"
            + " loader and reader."
      })
  private List<DlioWay> ways = List.of(DlioWay.values());

  @Option(
      names = "--scale",
      paramLabel = "F",
      description =
          "Part of the samples of the workload, above 0 and at most 1; by default 3 steps an epoch"
              + " of unet3d, 10 of resnet50, 256 of cosmoflow, or fewer if memory is short.")
  private Double scale;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      description =
          "Epochs of each run, of which the first one is cold; ${DEFAULT-VALUE} by default.")
  private int epochs = 3;

  @Option(
      names = "--nodes",
      paramLabel = "A..B",
      converter = NodeRange.Converter.class,
      description =
          "Print what unet3d needs on A to B nodes of 12 accelerators with 100 steps, as in the"
              + " evaluation of PyDAOS, beside what one rank delivers here without compute.")
  private NodeRange nodes;

  @Option(names = "--install", description = "Install DLIO in the user's cache, and end.")
  private boolean isInstall;

  @Override
  public Integer call() throws IOException, InterruptedException {
    PeerEnvironment environment = DlioTool.environmentOfDlio();
    if (isInstall) {
      environment.install();
      line("DLIO is installed: %s", environment.python());
      return finish(0, List.of(), Map.of());
    }
    OptionRange.check(command, "--epochs", epochs, 2, 1000);
    if (scale != null && !(scale > 0 && scale <= 1)) {
      throw usage("--scale: %s outside (0, 1]".formatted(scale));
    }
    if (nodes != null && workloads != null) {
      throw usage("--nodes: not with --workload, because the evaluation ran unet3d only");
    }
    return nodes == null ? compare(environment) : scaleOut(environment);
  }

  private List<DlioRuns.Result> run(
      PeerEnvironment environment,
      List<DlioWorkload> chosen,
      Set<DlioWay> ways,
      ToDoubleFunction<DlioWorkload> compute)
      throws IOException, InterruptedException {
    if (!environment.isInstalled()) {
      throw new DDStoreException("DLIO is not installed: run ./ddstore bench dlio --install");
    }
    KnownPeer.DDSTORE.variables(); // refuses before Spark starts
    List<DlioRuns.Plan> plans = new ArrayList<>();
    for (DlioWorkload workload : chosen) {
      plans.add(DlioRuns.plan(workload, scale));
    }
    try (Progress progress = progress(plans.size() * ways.size())) {
      return new DlioRuns(environment, epochs, compute, progress).measure(plans, ways);
    }
  }

  private int compare(PeerEnvironment environment) throws IOException, InterruptedException {
    List<DlioWorkload> chosen = workloads == null ? List.of(DlioWorkload.values()) : workloads;
    List<DlioRuns.Result> results =
        run(
            environment,
            chosen.stream().distinct().toList(),
            EnumSet.copyOf(ways),
            DlioWorkload::computeSeconds);
    table("workload, way, AU %, by us, samples/s, by us, wrong", results, DlioBench::cells);
    Set<DlioRuns.Plan> seen = new HashSet<>();
    for (DlioRuns.Result result : results) {
      if (seen.add(result.plan())) {
        DlioRuns.Plan plan = result.plan();
        line(
            "%s: %,d of %,d samples (scale %.3g), %.2f GiB, %d steps of %d samples and %s s",
            plan.workload(),
            plan.samples(),
            plan.workload().samples(),
            plan.scale(),
            result.bytes() / GIB,
            result.run().report().steps(),
            plan.workload().batch(),
            plan.workload().computeSeconds());
      }
    }
    line(
        "DLIO-configured: DLIO %s for an H100, one accelerator, %d epochs; medians of all but the first"
            + " epoch; by us: from DLIO's times of steps, without the first step",
        results.get(0).run().versions().get("dlio-benchmark").asText(), epochs);
    line(
        "files are .npz in /dev/shm: DLIO reads .tfrecord of resnet50 and cosmoflow only with TensorFlow");
    addFigures(results);
    return finish(mismatches(results), results, Map.of());
  }

  private int scaleOut(PeerEnvironment environment) throws IOException, InterruptedException {
    DlioWorkload workload = DlioWorkload.UNET3D;
    List<DlioRuns.Result> results =
        run(environment, List.of(workload), EnumSet.of(DlioWay.LOADER), any -> 0);
    DlioRuns.Result result = results.get(0);
    double delivered =
        warm(result.run().report().samplesPerSecond())
            * result.bytes()
            / result.plan().samples()
            / GIB;
    table(
        "nodes, ranks, files, samples, TiB, needed GiB/s",
        nodes.counts().stream().map(NodeNeeds::of).toList(),
        NodeNeeds::cells);
    double needed = workload.neededBytesPerSecond(STEP_SECONDS, UTILISATION) / GIB;
    double neededByH100 =
        workload.neededBytesPerSecond(workload.computeSeconds(), UTILISATION) / GIB;
    line(
        "each rank needs %.2f GiB/s at AU %.2f with %s s a step, and %.2f GiB/s with the %s s of an H100",
        needed, UTILISATION, STEP_SECONDS, neededByH100, workload.computeSeconds());
    line(
        "one rank delivers %.2f GiB/s here without compute: %.2f and %.2f of that",
        delivered, delivered / needed, delivered / neededByH100);
    addFigures(results);
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("nodes", nodes.counts().stream().map(NodeNeeds::of).toList());
    summary.put("neededGibibytesPerSecond", needed);
    summary.put("neededByH100GibibytesPerSecond", neededByH100);
    summary.put("deliveredGibibytesPerSecond", delivered);
    return finish(mismatches(results), results, summary);
  }

  private static List<Object> cells(DlioRuns.Result result) {
    DlioReport report = result.run().report();
    return List.of(
        result.plan().workload(),
        result.way().words(),
        fixed(1, warm(report.utilisation())),
        fixed(1, warm(report.ourUtilisation())),
        fixed(1, warm(report.samplesPerSecond())),
        fixed(1, warm(report.ourSamplesPerSecond())),
        result.run().mismatches());
  }

  private static long mismatches(List<DlioRuns.Result> results) {
    return results.stream().mapToLong(result -> result.run().mismatches()).sum();
  }

  /** Adds what DLIO reports of each run, with the ratios to its own reader on files. */
  private void addFigures(List<DlioRuns.Result> results) {
    for (DlioRuns.Result result : results) {
      Optional<DlioReport> files =
          results.stream()
              .filter(other -> other.plan().equals(result.plan()) && other.way() == DlioWay.FILES)
              .filter(other -> result.way() != DlioWay.FILES)
              .map(other -> other.run().report())
              .findFirst();
      DlioReport report = result.run().report();
      addFigures(
          result, "time", "µs/sample", micros(report), files.map(DlioBench::micros).orElse(null));
      if (result.computeSeconds() > 0) {
        addFigures(result, "100 - AU", "%", idle(report), files.map(DlioBench::idle).orElse(null));
      }
    }
  }

  private void addFigures(
      DlioRuns.Result result, String quantity, String unit, double[] samples, double[] files) {
    String subject = result.plan().workload() + ", " + quantity;
    int all = samples.length;
    for (String phase : List.of(Figure.COLD, Figure.WARM)) {
      int from = phase.equals(Figure.COLD) ? 0 : 1;
      int to = phase.equals(Figure.COLD) ? 1 : all;
      Figure figure =
          Figure.of(
                  SECTION,
                  subject,
                  result.way().words(),
                  unit,
                  Arrays.copyOfRange(samples, from, to))
              .in(phase)
              .wrong(result.run().mismatches())
              .with(settings(result));
      figure(
          files == null
              ? figure
              : figure.to(DlioWay.FILES.words(), Arrays.copyOfRange(files, from, to)));
    }
  }

  private static double[] micros(DlioReport report) {
    return report.samplesPerSecond().stream().mapToDouble(rate -> 1e6 / rate).toArray();
  }

  private static double[] idle(DlioReport report) {
    return report.utilisation().stream().mapToDouble(percent -> 100 - percent).toArray();
  }

  private static Map<String, String> settings(DlioRuns.Result result) {
    DlioRuns.Plan plan = result.plan();
    Map<String, String> settings = new LinkedHashMap<>();
    JsonNode versions = result.run().versions();
    versions.fieldNames().forEachRemaining(name -> settings.put(name, versions.get(name).asText()));
    settings.put("samples", Integer.toString(plan.samples()));
    settings.put("scale", String.format(Locale.ROOT, "%.3g", plan.scale()));
    settings.put("bytes", Long.toString(result.bytes()));
    settings.put("batch", Integer.toString(plan.workload().batch()));
    settings.put("steps", Integer.toString(result.run().report().steps()));
    settings.put("computation_time", Double.toString(result.computeSeconds()));
    settings.put("read_threads", Integer.toString(plan.workload().threads()));
    settings.put("format", result.way() == DlioWay.FILES ? "npz" : "store");
    return settings;
  }

  /** Returns the median of all epochs but the first. */
  private static double warm(List<Double> epochs) {
    return median(epochs.stream().skip(1).mapToDouble(Double::doubleValue).toArray());
  }

  /**
   * What unet3d has and needs on a number of nodes.
   *
   * @param samples number of samples, each of which is a file
   * @param gibibytesPerSecond rate at which all ranks together take samples at an AU of 0.9
   */
  record NodeNeeds(
      int nodes, int ranks, long samples, double tebibytes, double gibibytesPerSecond) {
    static NodeNeeds of(int nodes) {
      DlioWorkload workload = DlioWorkload.UNET3D;
      int ranks = nodes * RANKS_PER_NODE;
      long samples = (long) ranks * STEPS * workload.batch();
      return new NodeNeeds(
          nodes,
          ranks,
          samples,
          samples * workload.sampleBytes() / GIB / 1024,
          ranks * workload.neededBytesPerSecond(STEP_SECONDS, UTILISATION) / GIB);
    }

    List<Object> cells() {
      return List.of(
          nodes, ranks, samples, samples, fixed(2, tebibytes), fixed(0, gibibytesPerSecond));
    }
  }

  /** A number of nodes, or powers of two from one to another. */
  record NodeRange(List<Integer> counts) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,3})(?:\\.\\.(\\d{1,3}))?");

    static final class Converter implements ITypeConverter<NodeRange> {
      @Override
      public NodeRange convert(String value) {
        Matcher range = FORM.matcher(value);
        if (range.matches()) {
          int from = Integer.parseInt(range.group(1));
          int to = range.group(2) == null ? from : Integer.parseInt(range.group(2));
          if (1 <= from && from <= to && to <= MAX_NODES) {
            return new NodeRange(
                IntStream.iterate(from, count -> count <= to, count -> 2 * count).boxed().toList());
          }
        }
        throw new TypeConversionException(
            "%s outside [1, %d]: give a number, or two as 1..512".formatted(value, MAX_NODES));
      }
    }
  }
}
