// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.hosts.RemoteShell;
import org.ddstore.hosts.TwoHosts;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.types.DDStoreException;

/**
 * A measurement of MPI or libfabric without a store: a C program that reads random rows of another
 * process. Compiled by Maven if the library is there.
 *
 * @param program path of the executable
 */
record PlainReads(Path program) {
  private static final String BY_MPIRUN = "mpi_read";

  /** The provider over TCP that the store chooses too. */
  private static final String PROVIDER = "net";

  /** Pause between two progress calls of the passive ranks, equal to the store's. */
  private static final int PAUSE_US = 20;

  /** Time limit of the start, and of each size in addition to its measuring time. */
  private static final long PATIENCE_SECONDS = 60;

  /** Time in which mpirun ends its ranks before it is killed. */
  private static final Duration EXIT = Duration.ofSeconds(10);

  /** Returns the program beside the jar of this class that is compared with a transport. */
  static Optional<PlainReads> find(String transport) {
    URI jar =
        URI.create(PlainReads.class.getProtectionDomain().getCodeSource().getLocation().toString());
    return Optional.of(Path.of(jar).resolveSibling(transport + "_read"))
        .filter(Files::isExecutable)
        .map(PlainReads::new);
  }

  private boolean isStartedByMpirun() {
    return program.getFileName().toString().equals(BY_MPIRUN);
  }

  /** Returns what is measured, for people. */
  String words() {
    return isStartedByMpirun()
        ? "plain MPI in C, lock, get and unlock per row"
        : "plain libfabric in C, 64 calls of fi_read in flight";
  }

  /**
   * Measures the sizes of a plan. Blocks.
   *
   * @param hostCount with 2, rank r runs on host r % 2
   * @return microseconds per row, keyed by the row size in bytes; empty for libfabric on two hosts
   * @throws DDStoreException if the program fails, exceeds its time limit or reads wrong bytes
   */
  Map<Integer, Double> measure(ReadBenchPlan plan, int hostCount)
      throws IOException, InterruptedException {
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-mpi-")) {
      if (!isStartedByMpirun()) {
        return hostCount == 1
            ? run(new ProcessBuilder(fabricCommand(plan)), plan, scratch)
            : Map.of();
      }
      if (hostCount == 1) {
        return run(new ProcessBuilder(command(plan, scratch, List.of())), plan, scratch);
      }
      try (TwoHosts hosts = TwoHosts.open()) {
        List<String> options =
            new ArrayList<>(
                RemoteShell.create(hosts, scratch.path())
                    .mpirunOptions(hosts, (plan.network().ranks() + 1) / 2));
        options.addAll(List.of("--map-by", "node"));
        // As for the store's ranks: the only component that creates windows over TCP.
        options.addAll(List.of("--mca", "osc", "pt2pt", "--mca", "pml", "ob1"));
        options.addAll(List.of("--mca", "btl", "vader,self,tcp"));
        return run(hosts.first().command(command(plan, scratch, options)), plan, scratch);
      }
    }
  }

  private List<String> fabricCommand(ReadBenchPlan plan) {
    List<String> command =
        new ArrayList<>(
            List.of(
                program.toString(),
                Long.toString(plan.shardBytes()),
                Double.toString(plan.seconds()),
                PROVIDER));
    plan.rowBytes().forEach(bytes -> command.add(Integer.toString(bytes)));
    return command;
  }

  private List<String> command(ReadBenchPlan plan, ScratchDirectory scratch, List<String> options) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "mpirun",
                "--oversubscribe",
                "--mca",
                "orte_tmpdir_base",
                scratch.path().toString(),
                "-n",
                Integer.toString(plan.network().ranks())));
    command.addAll(options);
    command.addAll(
        List.of(
            program.toString(),
            Long.toString(plan.shardBytes()),
            Double.toString(plan.seconds()),
            Integer.toString(PAUSE_US)));
    plan.rowBytes().forEach(bytes -> command.add(Integer.toString(bytes)));
    return command;
  }

  private static Map<Integer, Double> run(
      ProcessBuilder builder, ReadBenchPlan plan, ScratchDirectory scratch)
      throws IOException, InterruptedException {
    Path outputFile = scratch.path().resolve("output");
    builder.redirectOutput(outputFile.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT);
    // Containers run as root, which mpirun accepts only if both variables are set.
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    String command = String.join(" ", builder.command());
    try (ChildProcesses processes = new ChildProcesses(EXIT)) {
      Process process = processes.start(builder);
      double seconds =
          PATIENCE_SECONDS + plan.rowBytes().size() * (PATIENCE_SECONDS + plan.seconds());
      if (!process.waitFor((long) Math.ceil(seconds), TimeUnit.SECONDS)) {
        throw new DDStoreException(
            "command %s did not finish within %.0f s".formatted(command, seconds));
      }
      if (process.exitValue() != 0) {
        throw new DDStoreException(
            "command %s exited with status %d".formatted(command, process.exitValue()));
      }
      return parse(Files.readAllLines(outputFile, StandardCharsets.US_ASCII), plan);
    }
  }

  private static Map<Integer, Double> parse(List<String> lines, ReadBenchPlan plan) {
    Map<Integer, Double> micros = new TreeMap<>();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (words.length != 3) {
        throw new DDStoreException("unexpected output of plain reads: \"%s\"".formatted(line));
      }
      if (!words[2].equals("0")) {
        throw new DDStoreException(
            "plain reads: %s wrong bytes in rows of %s bytes".formatted(words[2], words[0]));
      }
      micros.put(Integer.valueOf(words[0]), Double.valueOf(words[1]));
    }
    if (!micros.keySet().containsAll(plan.rowBytes())) {
      throw new DDStoreException(
          "output of plain reads lacks some row sizes of %s: %s".formatted(plan.rowBytes(), lines));
    }
    return micros;
  }
}
