// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.benchmarks.report.Report;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.transport.TransportProvider;
import org.ddstore.transport.TransportProviders;

/**
 * A part of a report: a benchmark command in a JVM of its own, so that no part finds the heap or
 * the compiled code of another, and one that fails costs only itself.
 *
 * @param arguments words of the command, after {@code bench}
 * @param expectedSeconds what it takes on two processors
 * @param missing what this machine lacks, with the remedy; null if nothing
 */
record ReportPart(
    String name, String title, List<String> arguments, int expectedSeconds, String missing) {
  static final String PEERS = "peers";

  private static final String SCALE = "scale";
  private static final String MAIN = "org.ddstore.cli.Main";
  private static final Duration EXIT = Duration.ofSeconds(30);

  /** A part that takes longer than that many times the expected time is ended. */
  private static final int PATIENCE = 10;

  private static final int MIN_PATIENCE_SECONDS = 300;

  static long seconds(List<ReportPart> parts) {
    return parts.stream().mapToLong(ReportPart::expectedSeconds).sum();
  }

  private static ReportPart of(String name, int seconds, String title, String command) {
    return new ReportPart(name, title, List.of(command.split(" ", -1)), seconds, null);
  }

  /**
   * Returns the parts of a report, in order.
   *
   * @param foreign other programs to measure beside the peers, NAME=COMMAND
   */
  static List<ReportPart> all(boolean isQuick, List<String> foreign) throws IOException {
    List<ReportPart> parts = new ArrayList<>();
    String sizes = isQuick ? "256,4096,65536" : "256,4096,65536,1048576";
    String seconds = isQuick ? "0.25" : "3";
    String shard = isQuick ? " --shard-mb 64" : " --shard-mb 256";
    parts.add(
        of(
            "read-memory",
            isQuick ? 30 : 300,
            "rows of the own process and of the same host, beside memcpy",
            "read --in-flight 1 --batch 1,64,1024 --row-bytes %s --seconds %s%s"
                .formatted(sizes, seconds, shard)));
    for (TransportProvider transport : TransportProviders.all()) {
      String options = "read --no-shortcut --transport %s --row-bytes %s --batch %s --seconds %s%s";
      ReportPart part =
          of(
              "read-" + transport.name(),
              isQuick ? 15 : 120,
              "rows of another process over %s, beside plain sockets".formatted(transport.name()),
              options.formatted(
                  transport.name(), "256,65536", "64,1024", seconds, shard + " --in-flight 1,4"));
      boolean isAlwaysThere =
          transport.autoUse().map(use -> use.condition().isEmpty()).orElse(false);
      parts.add(
          isAlwaysThere || transport.availability().isAvailable()
              ? part
              : part.without(transport.availability().detail()));
    }
    parts.add(
        of(
            "replay",
            isQuick ? 10 : 60,
            "the requests of a training step, beside their ceiling",
            "read --replay --no-shortcut --row-bytes 256,4096,65536 --batch 256 --seconds %s%s"
                .formatted(seconds, shard)));
    String epoch = "epoch --ranks %d --seconds %s --store-mb %d --beside %s";
    parts.add(
        of(
            "epoch",
            isQuick ? 80 : 300,
            "a shuffled epoch of one rank, beside files and Spark",
            epoch.formatted(1, isQuick ? "2" : "5", 128, "mapped,files,parquet,cache")));
    parts.add(
        of(
            "epoch-2",
            isQuick ? 40 : 60,
            "a shuffled epoch of two ranks",
            epoch.formatted(2, isQuick ? "3" : "5", 128, "mapped")));
    List<String> peers = new ArrayList<>(List.of(PEERS));
    if (!isQuick) {
      peers.addAll(List.of("--rows", "1000000", "--seconds", "1", "--rounds", "5"));
    }
    foreign.forEach(program -> peers.addAll(List.of("--peer", program)));
    parts.add(
        new ReportPart(
            PEERS,
            "the same rows by other programs",
            List.copyOf(peers),
            isQuick ? 160 : 900,
            null));
    ReportPart dlio =
        of(
            "dlio",
            isQuick ? 90 : 300,
            "the real DLIO on a store and on files",
            isQuick ? "dlio --epochs 2 --way loader,files" : "dlio");
    parts.add(
        DlioTool.environmentOfDlio().isInstalled()
            ? dlio
            : dlio.without("DLIO is not installed: run ./ddstore bench --install-peers"));
    parts.add(
        of(
            SCALE,
            isQuick ? 40 : 200,
            "starts of 1 to 131,072 ranks, the large ones by a model",
            isQuick ? "scale --quick" : "scale"));
    if (!isQuick) {
      parts.add(of("ingest", 300, "ingestion, beside libraries of the formats", "ingest"));
      parts.add(of("checkpoint", 120, "checkpoints beside a training", "checkpoint"));
      parts.add(of("scan", 200, "SQL queries, beside Spark's cache", "scan"));
    }
    return parts;
  }

  private ReportPart without(String what) {
    return new ReportPart(name, title, arguments, 0, what);
  }

  /** Runs the command and adds what it has measured to a report, or why it failed. Blocks. */
  void run(Report report) throws IOException, InterruptedException {
    if (missing != null) {
      report.skipped(name, String.join(" ", arguments), missing);
      return;
    }
    long startNs = System.nanoTime();
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-report-");
        ChildProcesses processes = new ChildProcesses(EXIT)) {
      Path out = scratch.path().resolve("out");
      Path err = scratch.path().resolve("err");
      Process process =
          processes.start(
              new ProcessBuilder(command())
                  .redirectOutput(out.toFile())
                  .redirectError(err.toFile()));
      process.getOutputStream().close();
      long patience = Math.max(MIN_PATIENCE_SECONDS, (long) PATIENCE * expectedSeconds);
      boolean hasEnded = process.waitFor(patience, TimeUnit.SECONDS);
      double took = (System.nanoTime() - startNs) / 1e9;
      JsonNode json = hasEnded ? lastObject(out) : null;
      if (json == null || !json.has("figures")) {
        String why = hasEnded ? lastLine(err) : "it took more than %d s".formatted(patience);
        report.failed(name, String.join(" ", arguments), took, why);
      } else {
        report.add(name, String.join(" ", arguments), took, json);
        boolean isExplained =
            json.path("mismatches").asLong() > 0 || json.path("failed").size() > 0;
        if (process.exitValue() != 0 && !isExplained) {
          report.failed(name, String.join(" ", arguments), took, lastLine(err));
        }
      }
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    if (name.equals(SCALE)) { // the processor time of a driver is measured
      command.remove("-XX:TieredStopAtLevel=1");
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, "bench"));
    command.addAll(arguments);
    command.add("--json");
    return command;
  }

  private static JsonNode lastObject(Path out) throws IOException {
    try {
      return new ObjectMapper().readTree(lastLine(out));
    } catch (JsonProcessingException e) {
      return null; // its error stands on standard error
    }
  }

  private static String lastLine(Path file) throws IOException {
    List<String> lines =
        Files.readString(file, StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank())
            .toList();
    return lines.isEmpty() ? "no output" : lines.get(lines.size() - 1);
  }
}
