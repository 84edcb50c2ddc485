// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Output;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.report.ClusterReport;
import org.ddstore.spark.report.ExecutorReport;
import org.ddstore.spark.report.KeptMemory;
import org.ddstore.spark.report.TransportReport;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command that reports the environment of every executor, with a remedy for each problem. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Reports transports, memory, limits, slots and versions of every executor, with a remedy"
          + " for each problem.",
      "Inspects two local executors or, under spark-submit, the executors of any master. Exits"
          + " with 0 if a store can run."
    })
final class DoctorCommand implements Callable<Integer> {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int EXECUTORS = 2;
  private static final int CORES_EACH = 1;
  private static final int MEMORY_MB = 1024;

  @Mixin private Output output;

  @Override
  public Integer call() {
    try (EmbeddedSpark spark =
        EmbeddedSpark.open("ddstore doctor", EXECUTORS, CORES_EACH, MEMORY_MB)) {
      ClusterReport report = ClusterReport.of(spark.session(), DEADLINE);
      boolean canRun = report.problems().isEmpty() && !report.executors().isEmpty();
      print(report, canRun);
      output.finish(0, results(report), summary(report, canRun));
      return canRun ? 0 : 1;
    }
  }

  private void print(ClusterReport report, boolean canRun) {
    ClusterFacts cluster = report.cluster();
    output.line(
        "master %s: %s, %s per task, %s"
            .formatted(
                cluster.master(),
                Plural.of(cluster.executors().size(), "executor"),
                Plural.of(cluster.taskCpus(), "CPU"),
                Plural.of(cluster.slots(), "slot")));
    output.tableByOwner(
        "executor, host, JDK, Spark, Scala, heap, container",
        report.executors().stream().map(DoctorCommand::versions).toList());
    output.tableByOwner(
        "executor, native library, copy kernel, devices",
        report.executors().stream()
            .map(
                executor ->
                    List.of(
                        executor.host().executorId(),
                        executor.nativeLibrary(),
                        executor.gatherKernel(),
                        executor.devices()))
            .toList());
    output.tableByOwner(
        "executor, shared memory, free, of, locked memory, enough for",
        report.executors().stream().map(executor -> memory(executor.host())).toList());
    output.tableByOwner("executor, transport, available, detail", transports(report));
    putKeptMemory(report);
    for (Problem problem : report.problems()) {
      output.line("PROBLEM  " + problem.missing());
      output.line("  do     " + problem.remedy());
    }
    output.line(canRun ? "A store can run here." : "A store cannot run here.");
    output.line(
        "Next     "
            + (canRun
                ? "./ddstore demo, or ./ddstore explain YOUR.parquet"
                : "do what the PROBLEM lines name, then ./ddstore doctor again"));
  }

  /** Shows what processes keep, also if several executors see a process, or processes a file. */
  private void putKeptMemory(ClusterReport report) {
    Map<String, KeptMemory> processes = new LinkedHashMap<>();
    Map<String, Long> files = new HashMap<>();
    for (ExecutorReport executor : report.executors()) {
      for (KeptMemory memory : executor.keptMemory()) {
        processes.putIfAbsent(
            "process %d (%s) on %s"
                .formatted(memory.pid(), memory.program(), executor.host().hostName()),
            memory);
        memory.files().forEach((file, bytes) -> files.merge(file, bytes, Math::max));
      }
    }
    if (processes.isEmpty()) {
      return;
    }
    long total = files.values().stream().mapToLong(Long::longValue).sum();
    output.line("KEPT     %s of segments that were deleted".formatted(ByteSize.format(total)));
    processes.forEach(
        (process, memory) ->
            output.line("  by     %s, %s".formatted(process, ByteSize.format(memory.bytes()))));
    output.line("  do     close the readers of these processes, or end them");
  }

  private static List<String> versions(ExecutorReport executor) {
    HostFacts host = executor.host();
    return List.of(
        host.executorId(),
        host.hostName(),
        host.jdk(),
        executor.sparkVersion(),
        executor.scalaVersion(),
        ByteSize.format(host.maxHeapBytes()),
        bytesOr(host.containerLimitBytes(), "no limit"));
  }

  private static List<String> memory(HostFacts host) {
    return List.of(
        host.executorId(),
        host.sharedMemoryPath(),
        bytesOr(host.sharedMemoryFreeBytes(), "not available"),
        bytesOr(host.sharedMemoryTotalBytes(), "not available"),
        "%s, at most %s"
            .formatted(
                bytesOr(host.lockedMemorySoftBytes(), "unlimited"),
                bytesOr(host.lockedMemoryHardBytes(), "unlimited")),
        host.lockedMemorySoftBytes() == null
            ? "all transports"
            : "all but RDMA, which needs ulimit -l unlimited or LimitMEMLOCK=infinity");
  }

  private static String bytesOr(Long bytes, String none) {
    return bytes == null ? none : ByteSize.format(bytes);
  }

  private static List<List<String>> transports(ClusterReport report) {
    List<List<String>> rows = new ArrayList<>();
    for (ExecutorReport executor : report.executors()) {
      for (TransportReport transport : executor.transports()) {
        rows.add(
            List.of(
                executor.host().executorId(),
                transport.name(),
                transport.available() ? "yes" : "no",
                transport.detail()));
      }
    }
    return rows;
  }

  private static List<Map<String, Object>> results(ClusterReport report) {
    List<Map<String, Object>> results = new ArrayList<>();
    for (ExecutorReport executor : report.executors()) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("executor", executor.host().executorId());
      result.put("spark", executor.sparkVersion());
      result.put("scala", executor.scalaVersion());
      result.put("nativeLibrary", executor.nativeLibrary());
      result.put("gatherKernel", executor.gatherKernel());
      result.put("devices", executor.devices());
      result.put("keptMemory", executor.keptMemory());
      result.put("host", executor.host());
      result.put("transports", executor.transports());
      results.add(result);
    }
    return results;
  }

  private static Map<String, Object> summary(ClusterReport report, boolean canRun) {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("canRun", canRun);
    summary.put("master", report.cluster().master());
    summary.put("executors", report.cluster().executors().size());
    summary.put("taskCpus", report.cluster().taskCpus());
    summary.put("slots", report.cluster().slots());
    summary.put("silentExecutors", report.silent());
    summary.put("problems", report.problems());
    return summary;
  }
}
