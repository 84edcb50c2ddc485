// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.CommandExtension;
import org.ddstore.cli.OptionRange;
import org.ddstore.hosts.Requirements;
import org.ddstore.local.Output;
import org.ddstore.local.ScratchDirectory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command that runs random operations on stores under faults. */
@Command(
    name = "chaos",
    mixinStandardHelpOptions = true,
    description = {
      "Performs random operations, and reads beside them, on several stores in executors of their"
          + " own JVMs, while this process injects faults at random times and in the middle of operations: it kills and"
          + " stops executors, pauses the driver, fills shared memory, takes descriptors and cuts"
          + " the link of two hosts.",
      "A model explains each read by one version of the store. Each call must succeed, or throw a"
          + " typed error within its documented deadline and 30 s; nothing may be left behind.",
      "A seed replays the schedule of operations, faults and delays, not the interleaving of"
          + " threads and processes. Exits with 1 after any finding."
    })
public final class ChaosCommand implements Callable<Integer>, CommandExtension {
  static final String LOGGING = "classpath:org/ddstore/local/log4j2.properties";

  private static final double ROUND_MINUTES = 5;
  private static final int MAX_MINUTES = 60 * 24 * 30;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description =
          "Minutes in which operations run, such as 0.5; ${DEFAULT-VALUE} by default. A new application"
              + " starts after each five.")
  private double minutes = 10;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of the schedule; random by default.")
  private Long seed;

  @Option(
      names = "--first",
      paramLabel = "N",
      description = "Number of the first operation of the schedule; ${DEFAULT-VALUE} by default.")
  private int first;

  @Option(
      names = "--hosts",
      paramLabel = "1|2",
      description =
          "Number of hosts, 1 by default. Hosts are namespaces with separate /dev/shm, which need"
              + " root; without root, one host is this machine, and shared memory is not filled.")
  private int hosts = 1;

  @Option(
      names = "--operations",
      paramLabel = "NAME",
      split = ",",
      description = "Only these operations: ${COMPLETION-CANDIDATES}.")
  private Set<OperationKind> operations = EnumSet.allOf(OperationKind.class);

  @Option(
      names = "--faults",
      paramLabel = "NAME",
      split = ",",
      description = "Only these faults: ${COMPLETION-CANDIDATES}.")
  private Set<FaultKind> faults = EnumSet.allOf(FaultKind.class);

  @Mixin private Output output;

  @Spec private CommandSpec command;

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange.check(command, "--hosts", hosts, 1, 2);
    OptionRange.check(command, "--first", first, 0, 1 << 30);
    if (!(minutes > 0 && minutes <= MAX_MINUTES)) {
      throw new ParameterException(
          command.commandLine(),
          "--minutes %s: must be above 0 and at most %,d".formatted(minutes, MAX_MINUTES));
    }
    Optional<String> problem = hosts == 2 ? Requirements.missing() : Optional.empty();
    if (problem.isPresent()) {
      throw new ParameterException(command.commandLine(), "--hosts 2: " + problem.get());
    }
    long used = seed == null ? ThreadLocalRandom.current().nextLong(1 << 30) : seed;
    boolean isVerbose = command.commandLine().getParseResult().hasMatchedOption(Output.VERBOSE);
    Journal journal =
        new Journal(
            line -> {
              if (isVerbose) {
                command.commandLine().getErr().println(line);
              }
            });
    Map<String, String> skipped = new LinkedHashMap<>();
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-chaos-");
        Site site = Site.open(hosts, scratch.path())) {
      run(site, used, scratch.path(), journal, skipped, isVerbose);
    }
    report(used, journal, skipped);
    return journal.findings().isEmpty() ? 0 : 1;
  }

  private void run(
      Site site,
      long used,
      Path scratch,
      Journal journal,
      Map<String, String> skipped,
      boolean isVerbose)
      throws IOException, InterruptedException {
    Optional<String> noPython = PythonReader.problem();
    Set<OperationKind> kinds = EnumSet.copyOf(operations);
    if (noPython.isPresent() && kinds.remove(OperationKind.PYTHON)) {
      skipped.put(OperationKind.PYTHON.toString(), noPython.get());
    }
    Set<FaultKind> injected = site.faults();
    injected.retainAll(faults);
    site.missing().forEach((kind, reason) -> skipped.put(kind.toString(), reason));
    Schedule schedule = new Schedule(used, List.copyOf(kinds), List.copyOf(injected));
    double left = minutes;
    int next = first;
    for (int round = 0; left > 0; round++, left -= ROUND_MINUTES) {
      Path directory = Files.createDirectory(scratch.resolve("round-" + round));
      double part = Math.min(left, ROUND_MINUTES);
      journal.event("round %d begins with operation %d".formatted(round, next));
      next =
          new Round(site, schedule, journal, directory, isVerbose)
              .run(
                  next,
                  ChaosSpark.Shape.ofRound(round),
                  Duration.ofMillis((long) (part * TimeUnit.MINUTES.toMillis(1))),
                  noPython.isEmpty());
    }
  }

  private void report(long used, Journal journal, Map<String, String> skipped) {
    List<FaultKind> columns =
        Arrays.stream(FaultKind.values()).filter(kind -> kind != FaultKind.NONE).toList();
    List<List<Object>> rows = new ArrayList<>();
    Map<String, Map<String, Integer>> matrix = new LinkedHashMap<>();
    for (OperationKind kind : OperationKind.values()) {
      List<Object> row =
          new ArrayList<>(List.of(kind, journal.operations(kind), journal.failures(kind)));
      Map<String, Integer> cells = new LinkedHashMap<>();
      columns.forEach(
          fault -> {
            row.add(journal.faults(kind, fault));
            cells.put(fault.toString(), journal.faults(kind, fault));
          });
      rows.add(row);
      matrix.put(kind.toString(), cells);
    }
    output.table("operation, done, failed, kill, stop, pause, full, spec., desc., link", rows);
    skipped.forEach((name, reason) -> output.line("%s left out: %s".formatted(name, reason)));
    journal
        .findings()
        .forEach(
            finding -> {
              finding.timeline().forEach(output::verbatim);
              output.verbatim(
                  "%s in %s, seed %d: %s"
                      .formatted(finding.problem(), finding.operation(), used, finding.text()));
            });
    output.line(
        "seed %d: %,d operations, %,d faults, %,d findings"
            .formatted(used, journal.operations(), journal.faults(), journal.findings().size()));
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("seed", used);
    summary.put("operations", journal.operations());
    summary.put("faults", journal.faults());
    summary.put("hangs", journal.findings(Message.Problem.HANG));
    summary.put("leftovers", journal.findings(Message.Problem.LEFTOVER));
    summary.put("matrix", matrix);
    summary.put("skipped", skipped);
    summary.put("findings", journal.findings());
    output.finish(journal.findings(Message.Problem.MISMATCH), List.of(), summary);
  }
}
