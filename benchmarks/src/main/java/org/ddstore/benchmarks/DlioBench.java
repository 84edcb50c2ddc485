// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.ddstore.benchmarks.driver.Bench;
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
      names = "--scale",
      paramLabel = "F",
      description =
          "Part of the samples of the workload, above 0 and at most 1; by default 4 steps an epoch"
              + " of unet3d, 10 of resnet50, 256 of cosmoflow, or fewer if memory is short.")
  private Double scale;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      description =
          "Epochs of each run, of which the first one is cold; ${DEFAULT-VALUE} by default.")
  private int epochs = 4;

  @Option(
      names = "--nodes",
      paramLabel = "A..B",
      converter = Nodes.class,
      description =
          "Print what unet3d needs on A to B nodes of 12 accelerators with 100 steps, as in the"
              + " evaluation of PyDAOS, beside what one rank delivers here without compute.")
  private List<Integer> nodes;

  @Option(names = "--install", description = "Install DLIO in the user's cache, and end.")
  private boolean isInstall;

  @Override
  public Integer call() throws IOException, InterruptedException {
    PythonEnvironment environment = PythonEnvironment.of(SECTION);
    if (isInstall) {
      line("DLIO is installed: %s", environment.install());
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
      PythonEnvironment environment,
      List<DlioWorkload> chosen,
      Set<DlioWay> ways,
      ToDoubleFunction<DlioWorkload> compute)
      throws IOException, InterruptedException {
    PythonProgram.library(); // refuses before Spark starts, as do the next lines
    Path python = installed(environment);
    List<DlioRuns.Plan> plans = new ArrayList<>();
    for (DlioWorkload workload : chosen) {
      plans.add(DlioRuns.plan(workload, scale));
    }
    try (Progress progress = progress(plans.size() * ways.size())) {
      return new DlioRuns(python, epochs, compute, progress).measure(plans, ways);
    }
  }

  private static Path installed(PythonEnvironment environment) {
    return environment
        .python()
        .orElseThrow(
            () ->
                new DDStoreException(
                    "DLIO is not installed: run ./ddstore bench dlio --install, which needs a package index of Python"));
  }

  private int compare(PythonEnvironment environment) throws IOException, InterruptedException {
    List<DlioWorkload> chosen = workloads == null ? List.of(DlioWorkload.values()) : workloads;
    List<DlioRuns.Result> results =
        run(
            environment,
            chosen.stream().distinct().toList(),
            EnumSet.allOf(DlioWay.class),
            DlioWorkload::computeSeconds);
    table(
        "workload, way, AU %, by us, samples/s, by us, wrong", results, DlioBench::cells);
    for (DlioRuns.Result result : results) {
      if (result.way() == DlioWay.LOADER) {
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
    line("files are .npz in /dev/shm: DLIO reads .tfrecord of resnet50 and cosmoflow only with TensorFlow");
    return finish(mismatches(results), figures(results), summary(results));
  }

  private int scaleOut(PythonEnvironment environment) throws IOException, InterruptedException {
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
        nodes.stream().map(NodeNeeds::of).toList(),
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
    Map<String, Object> summary = summary(results);
    summary.put("nodes", nodes.stream().map(NodeNeeds::of).toList());
    summary.put("neededGibibytesPerSecond", needed);
    summary.put("neededByH100GibibytesPerSecond", neededByH100);
    summary.put("deliveredGibibytesPerSecond", delivered);
    return finish(mismatches(results), figures(results), summary);
  }

  private static List<Object> cells(DlioRuns.Result result) {
    DlioReport report = result.run().report();
    return List.of(
        result.plan().workload(),
        result.way(),
        fixed(1, warm(report.utilisation())),
        fixed(1, warm(report.ourUtilisation())),
        fixed(1, warm(report.samplesPerSecond())),
        fixed(1, warm(report.ourSamplesPerSecond())),
        result.run().mismatches());
  }

  private static long mismatches(List<DlioRuns.Result> results) {
    return results.stream().mapToLong(result -> result.run().mismatches()).sum();
  }

  private static Map<String, Object> summary(List<DlioRuns.Result> results) {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("versions", results.get(0).run().versions());
    return summary;
  }

  /** Returns what DLIO reports of each run, with the ratios to its own reader on files. */
  static List<DlioFigure> figures(List<DlioRuns.Result> results) {
    List<DlioFigure> figures = new ArrayList<>();
    for (DlioRuns.Result result : results) {
      DlioReport files =
          results.stream()
              .filter(other -> other.plan().equals(result.plan()) && other.way() == DlioWay.FILES)
              .map(other -> other.run().report())
              .filter(report -> result.way() != DlioWay.FILES)
              .findFirst()
              .orElse(null);
      figures.addAll(figures(result, files, "AU %", DlioReport::utilisation));
      figures.addAll(figures(result, files, "samples/s", DlioReport::samplesPerSecond));
    }
    return figures;
  }

  private static List<DlioFigure> figures(
      DlioRuns.Result result,
      DlioReport files,
      String unit,
      Function<DlioReport, List<Double>> values) {
    List<Double> samples = values.apply(result.run().report());
    List<Double> ratios =
        files == null
            ? null
            : IntStream.range(0, samples.size())
                .mapToObj(i -> samples.get(i) / values.apply(files).get(i))
                .toList();
    return List.of(
        figure(result, "cold", unit, samples.subList(0, 1), part(ratios, 0, 1)),
        figure(
            result,
            "warm",
            unit,
            samples.subList(1, samples.size()),
            part(ratios, 1, samples.size())));
  }

  private static List<Double> part(List<Double> values, int from, int to) {
    return values == null ? null : values.subList(from, to);
  }

  private static DlioFigure figure(
      DlioRuns.Result result,
      String phase,
      String unit,
      List<Double> samples,
      List<Double> ratios) {
    DlioRuns.Plan plan = result.plan();
    DlioReport report = result.run().report();
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("dlio", result.run().versions().get("dlio-benchmark").asText());
    settings.put("samples", plan.samples());
    settings.put("scale", plan.scale());
    settings.put("bytes", result.bytes());
    settings.put("batch", plan.workload().batch());
    settings.put("steps", report.steps());
    settings.put("computeSeconds", result.computeSeconds());
    settings.put("readThreads", plan.workload().threads());
    settings.put("ourUtilisation", report.ourUtilisation());
    settings.put("ourSamplesPerSecond", report.ourSamplesPerSecond());
    settings.put("meetsGoal", report.isSuccess());
    return new DlioFigure(
        SECTION,
        plan.workload().toString(),
        result.way().toString(),
        phase,
        unit,
        List.copyOf(samples),
        ratios == null ? null : DlioWay.FILES.toString(),
        ratios,
        result.run().mismatches(),
        settings);
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
  static final class Nodes implements ITypeConverter<List<Integer>> {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,3})(?:\\.\\.(\\d{1,3}))?");

    @Override
    public List<Integer> convert(String value) {
      Matcher range = RANGE.matcher(value);
      if (range.matches()) {
        int from = Integer.parseInt(range.group(1));
        int to = range.group(2) == null ? from : Integer.parseInt(range.group(2));
        if (1 <= from && from <= to && to <= MAX_NODES) {
          return IntStream.iterate(from, nodes -> nodes <= to, nodes -> 2 * nodes).boxed().toList();
        }
      }
      throw new TypeConversionException(
          "%s is no range of nodes: 1..%d is the largest one".formatted(value, MAX_NODES));
    }
  }
}
