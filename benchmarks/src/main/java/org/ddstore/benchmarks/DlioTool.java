// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.benchmarks.peers.KnownPeer;
import org.ddstore.benchmarks.peers.PeerEnvironment;
import org.ddstore.types.DDStoreException;

/**
 * The program {@code bench_dlio.py}, which runs DLIO itself in its environment, with the Python
 * package of this checkout.
 *
 * @param environment the environment {@code dlio}
 * @param processes owner of the processes
 * @param folder folder for the files of runs
 * @param sockets folder for sockets of Python's workers, whose paths have at most 107 bytes
 */
record DlioTool(PeerEnvironment environment, ChildProcesses processes, Path folder, Path sockets) {
  /** The time that a run has beside its steps, as a duration and as a multiple of their time. */
  private static final Duration START = Duration.ofMinutes(3);

  private static final int SLOWEST = 50;
  private static final int LINES = 5;
  private static final int LEAST_MINOR = 10;

  /** Returns the environment with DLIO. */
  static PeerEnvironment environmentOfDlio() {
    return PeerEnvironment.of("dlio", LEAST_MINOR);
  }

  /**
   * A run.
   *
   * @param report what DLIO reports
   * @param seconds duration of the process, with its start and the check
   * @param mismatches samples that differed from the written ones when all were read once more
   * @param versions versions of DLIO and of what it runs on, by name
   */
  record Run(DlioReport report, double seconds, long mismatches, JsonNode versions) {}

  /** Writes the samples to files of DLIO's format .npz. Blocks. */
  void write(Path lengths, Path files, long bytes) throws IOException, InterruptedException {
    run(START.plusSeconds(bytes >> 24), List.of("write", lengths.toString(), files.toString()));
  }

  /**
   * Runs DLIO. Blocks.
   *
   * @param samples number of samples
   * @param data folder of the data, with the folder {@code train}
   * @param lengths file with the lengths of the samples
   * @param computeSeconds compute time of a step
   */
  Run run(
      DlioWorkload workload,
      DlioWay way,
      int samples,
      Path data,
      Path lengths,
      int epochs,
      double computeSeconds)
      throws IOException, InterruptedException {
    Path output = Files.createTempDirectory(folder, "output-");
    Path workloads = Files.createDirectories(output.resolve("configuration/workload"));
    Files.writeString(
        workloads.resolve("configured.yaml"),
        yaml(workload, way, samples, data, output, epochs, computeSeconds));
    Path result = output.resolve("result.json");
    long startNs = System.nanoTime();
    double steps = (double) epochs * samples / workload.batch();
    run(
        START.plusSeconds((long) (SLOWEST * steps * workload.computeSeconds())),
        List.of(
            "run",
            lengths.toString(),
            result.toString(),
            "--config-dir=" + output.resolve("configuration"),
            "workload=configured",
            "hydra.run.dir=" + output.resolve("hydra")));
    JsonNode checked = new ObjectMapper().readTree(result.toFile());
    return new Run(
        DlioReport.read(output, workload.batch()),
        (System.nanoTime() - startNs) / 1e9,
        checked.get("mismatches").asLong(),
        checked.get("versions"));
  }

  /** Returns the configuration of a workload, whose data are one handle, or files .npz. */
  static String yaml(
      DlioWorkload workload,
      DlioWay way,
      int samples,
      Path data,
      Path output,
      int epochs,
      double computeSeconds) {
    List<String> lines = new ArrayList<>();
    lines.add("model: " + workload);
    lines.add("framework: pytorch");
    lines.add("workflow:");
    lines.add("  train: True");
    lines.add("dataset:");
    lines.add("  data_folder: \"%s\"".formatted(data));
    lines.add("  format: " + (way.isOfStore() ? "indexed_binary" : "npz"));
    lines.add("  num_files_train: " + (way.isOfStore() ? 1 : samples));
    lines.add("  num_samples_per_file: " + (way.isOfStore() ? samples : 1));
    lines.add("  record_length: " + workload.sampleBytes());
    lines.add("  record_length_stdev: " + workload.deviationBytes());
    lines.add("  record_length_resize: " + workload.preparedBytes());
    lines.add("reader:");
    lines.add("  data_loader: pytorch");
    way.classes().forEach(line -> lines.add("  " + line));
    lines.add("  batch_size: " + workload.batch());
    lines.add("  read_threads: " + workload.threads());
    lines.add("  file_shuffle: seed");
    lines.add("  sample_shuffle: seed");
    lines.add("train:");
    lines.add("  epochs: " + epochs);
    lines.add(String.format(Locale.ROOT, "  computation_time: %.6f", computeSeconds));
    lines.add("metric:");
    lines.add(String.format(Locale.ROOT, "  au: %.2f", workload.goal()));
    lines.add("output:");
    lines.add("  folder: \"%s\"".formatted(output));
    return String.join("\n", lines) + "\n";
  }

  private void run(Duration limit, List<String> arguments)
      throws IOException, InterruptedException {
    Path log = folder.resolve("dlio.log");
    List<String> command = new ArrayList<>();
    command.add(environment.python().toString());
    command.add("-B"); // no files in the checkout
    command.add(
        KnownPeer.checkout().resolve("benchmarks/src/main/python/bench_dlio.py").toString());
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().putAll(KnownPeer.DDSTORE.variables());
    builder.environment().put("TMPDIR", sockets.toString());
    Process process = processes.start(builder);
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw failure("has not ended within %d s".formatted(limit.toSeconds()), log);
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw failure("has ended with status " + process.exitValue(), log);
    }
  }

  private static DDStoreException failure(String event, Path log) throws IOException {
    List<String> lines =
        Files.readString(log, StandardCharsets.UTF_8).lines().filter(l -> !l.isBlank()).toList();
    return new DDStoreException(
        "DLIO %s: %s"
            .formatted(
                event,
                String.join("\n", lines.subList(Math.max(0, lines.size() - LINES), lines.size()))));
  }
}
