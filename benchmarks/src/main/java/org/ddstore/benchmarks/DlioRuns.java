// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.benchmarks.peers.PeerEnvironment;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.DDStoreException;

/**
 * Runs of DLIO on a store in two executors and on files in /dev/shm, one after the other, so that
 * either the store or the files are in memory.
 */
final class DlioRuns {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int RANKS = 2;

  /** The first step of an epoch does not count. */
  private static final int MIN_STEPS = 2;

  /** Batches that the loader, the loop and the check hold together. */
  private static final int BATCHES_HELD = 5;

  /** Copies of a row that Spark makes during a load. */
  private static final int ROW_COPIES = 6;

  private static final int HEAP_MB = 768;

  private final PeerEnvironment environment;
  private final int epochs;
  private final ToDoubleFunction<DlioWorkload> compute;
  private final Progress progress;
  private final List<Result> results = new ArrayList<>();

  /**
   * @param environment the environment {@code dlio}
   * @param epochs epochs of each run
   * @param compute compute time of a step, in seconds
   * @param progress receives the number of completed runs
   */
  DlioRuns(
      PeerEnvironment environment,
      int epochs,
      ToDoubleFunction<DlioWorkload> compute,
      Progress progress) {
    this.environment = environment;
    this.epochs = epochs;
    this.compute = compute;
    this.progress = progress;
  }

  /**
   * The part of a workload to run.
   *
   * @param samples number of samples, a multiple of the batch
   */
  record Plan(DlioWorkload workload, int samples) {
    double scale() {
      return (double) samples / workload.samples();
    }
  }

  /**
   * The result of one way.
   *
   * @param bytes size of all samples
   */
  record Result(Plan plan, DlioWay way, long bytes, double computeSeconds, DlioTool.Run run) {}

  /**
   * Returns the number of samples of a run.
   *
   * @param scale part of the samples of the workload; null for a short run that fits the memory
   * @throws DDStoreException if store or files do not fit the memory of this machine
   */
  static Plan plan(DlioWorkload workload, Double scale) throws IOException {
    long batchBytes = (long) workload.batch() * workload.sampleBytes();
    long held = BATCHES_HELD * batchBytes + (((long) RANKS * heapMb(List.of(workload))) << 20);
    long free =
        Math.min(Files.getFileStore(SHARED_MEMORY).getUsableSpace(), availableBytes() - held);
    int steps =
        scale == null
            ? (int) Math.min(workload.steps(), free / batchBytes)
            : (int) (scale * workload.samples() / workload.batch());
    steps = Math.max(MIN_STEPS, steps);
    if (steps * batchBytes > free) {
      throw new DDStoreException(
          "%s with %d steps of %d samples needs %s of memory, %s available: lower --scale, or free memory and /dev/shm"
              .formatted(
                  workload,
                  steps,
                  workload.batch(),
                  ByteSize.format(steps * batchBytes + held),
                  ByteSize.format(Math.max(0, free + held))));
    }
    return new Plan(workload, steps * workload.batch());
  }

  private static long availableBytes() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
      return lines
          .filter(line -> line.startsWith("MemAvailable:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .findFirst()
          .orElseThrow();
    }
  }

  /** Returns the heap of an executor, in MiB. */
  private static int heapMb(List<DlioWorkload> workloads) {
    int longest = workloads.stream().mapToInt(DlioSamples::longest).max().orElseThrow();
    return HEAP_MB + (int) (((long) ROW_COPIES * longest) >> 20);
  }

  /** Returns the results of the ways of each plan. Blocks. */
  List<Result> measure(List<Plan> plans, Set<DlioWay> ways)
      throws IOException, InterruptedException {
    int heapMb = heapMb(plans.stream().map(Plan::workload).toList());
    try (EmbeddedSpark spark =
            EmbeddedSpark.open("ddstore bench dlio", RANKS, 1, heapMb, Map.of());
        ScratchDirectory scratch = ScratchDirectory.create("ddstore-dlio-");
        ScratchDirectory sockets = ScratchDirectory.create(SHARED_MEMORY, "ddstore-dlio-");
        ChildProcesses processes = new ChildProcesses(PATIENCE)) {
      DlioTool tool = new DlioTool(environment, processes, scratch.path(), sockets.path());
      for (Plan plan : plans) {
        DlioSamples samples = DlioSamples.of(plan.workload(), plan.samples());
        Path lengths = scratch.path().resolve(plan.workload() + ".txt");
        samples.writeLengths(lengths);
        Runs runs = new Runs(tool, plan, samples, lengths);
        runs.onStore(spark, ways);
        runs.onFiles(ways);
      }
    }
    return List.copyOf(results);
  }

  /** The runs of one plan. */
  private final class Runs {
    private final DlioTool tool;
    private final Plan plan;
    private final DlioSamples samples;
    private final Path lengths;

    Runs(DlioTool tool, Plan plan, DlioSamples samples, Path lengths) {
      this.tool = tool;
      this.plan = plan;
      this.samples = samples;
      this.lengths = lengths;
    }

    void onStore(EmbeddedSpark spark, Set<DlioWay> ways) throws IOException, InterruptedException {
      progress.describe("loads " + plan.workload());
      Path data = Files.createDirectory(tool.folder().resolve(plan.workload() + "-store"));
      Path handle = folders(data).resolve("store.indexed_binary");
      ResidentStore store =
          samples.spec(spark.session(), RANKS).load("bench-dlio-" + plan.workload());
      try {
        store.handle().save(handle);
        for (DlioWay way : ways) {
          if (way.isOfStore()) {
            run(way, data);
          }
        }
      } finally {
        store.drop();
      }
    }

    void onFiles(Set<DlioWay> ways) throws IOException, InterruptedException {
      if (ways.contains(DlioWay.FILES)) {
        progress.describe("writes files of " + plan.workload());
        try (ScratchDirectory data = ScratchDirectory.create(SHARED_MEMORY, "ddstore-dlio-")) {
          tool.write(lengths, folders(data.path()), samples.bytes());
          run(DlioWay.FILES, data.path());
        }
      }
    }

    /** Makes the folders that DLIO lists; returns that of the samples of trainings. */
    private static Path folders(Path data) throws IOException {
      Files.createDirectory(data.resolve("valid"));
      return Files.createDirectory(data.resolve("train"));
    }

    private void run(DlioWay way, Path data) throws IOException, InterruptedException {
      progress.describe(plan.workload() + ", " + way.words());
      double computeSeconds = compute.applyAsDouble(plan.workload());
      DlioTool.Run run =
          tool.run(plan.workload(), way, samples.count(), data, lengths, epochs, computeSeconds);
      results.add(new Result(plan, way, samples.bytes(), computeSeconds, run));
      progress.stepTo(results.size());
    }
  }
}
