package org.ddstore.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.ddstore.DDStoreException;

/**
 * What rows cost by MPI without a store: a program in C in which rank 0 reads random rows of the
 * other ranks, each by lock, get and unlock. Compiled by the launcher, begun by mpirun, on this
 * host.
 *
 * @param program the executable
 */
record PlainMpi(Path program) {
  private static final String PROGRAM = "DDSTORE_MPI_READ";
  private static final long START_SECONDS = 60;

  /** The program, where the launcher has compiled it. */
  static Optional<PlainMpi> find() {
    return Optional.ofNullable(System.getenv(PROGRAM))
        .map(Path::of)
        .filter(Files::isExecutable)
        .map(PlainMpi::new);
  }

  /**
   * Measures the sizes of a plan. Blocks.
   *
   * @return microseconds a row by its bytes
   * @throws DDStoreException if it fails or reads wrong bytes
   */
  Map<Integer, Double> measure(ReadBenchPlan plan) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "mpirun",
                "--oversubscribe",
                "-n",
                Integer.toString(plan.ranks()),
                program.toString(),
                Long.toString(plan.shardBytes()),
                Double.toString(plan.seconds())));
    plan.rowBytes().forEach(bytes -> command.add(Integer.toString(bytes)));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    // Containers run as root, and mpirun wants to be told twice that this is meant.
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Process process = builder.start();
    try {
      Map<Integer, Double> micros = new TreeMap<>();
      try (BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII)) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          take(line, micros);
        }
      }
      if (!process.waitFor(START_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new DDStoreException("%s failed".formatted(String.join(" ", command)));
      }
      return micros;
    } finally {
      process.destroy();
    }
  }

  private static void take(String line, Map<Integer, Double> micros) {
    String[] words = line.split(" ", -1);
    if (!words[2].equals("0")) {
      throw new DDStoreException("plain MPI read %s wrong rows".formatted(words[2]));
    }
    micros.put(Integer.valueOf(words[0]), Double.valueOf(words[1]));
  }
}
