// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.peers.KnownPeer;
import org.ddstore.types.DDStoreException;

/** A Python process that reads random rows by a handle. */
record PythonReader(Path program, Path handle) {
  private static final int BATCHES = 20;
  private static final int LEGAL_ERROR = 3;
  private static final String ERROR = "error ";

  /** Returns why no Python process can read here; empty if one can. */
  static Optional<String> problem() {
    try {
      KnownPeer.DDSTORE.variables();
      int status =
          new ProcessBuilder(KnownPeer.defaultInterpreter(), "-c", "import numpy")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor();
      return status == 0
          ? Optional.empty()
          : Optional.of(KnownPeer.defaultInterpreter() + " has no NumPy: install python3-numpy");
    } catch (IOException | DDStoreException e) {
      return Optional.of(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("interrupted");
    }
  }

  static Path defaultProgram() {
    return KnownPeer.checkout().resolve("benchmarks/src/main/python/chaos_reader.py");
  }

  /**
   * Reads in a new process.
   *
   * @throws DDStoreException if the process reports an error that the package documents
   * @throws IllegalStateException if it ends in another way, or not in time
   */
  void read(int seed, Duration limit, Observation found) throws IOException, InterruptedException {
    Path output = handle.resolveSibling(handle.getFileName() + ".out");
    Path errors = handle.resolveSibling(handle.getFileName() + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(
            KnownPeer.defaultInterpreter(),
            "-B",
            program.toString(),
            handle.toString(),
            "" + seed,
            "" + BATCHES);
    builder.environment().putAll(KnownPeer.DDSTORE.variables());
    Process process =
        builder.redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("Python still reads after %s".formatted(limit));
      }
    } finally {
      process.destroyForcibly().waitFor();
    }
    List<String> lines = Files.readAllLines(output);
    String last = lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    boolean hasError = process.exitValue() == LEGAL_ERROR && last.startsWith(ERROR);
    List<String> read = hasError ? lines.subList(0, lines.size() - 1) : lines;
    if (hasError || process.exitValue() == 0) {
      read.stream()
          .limit(1)
          .forEach(rows -> found.number("rows", Version::rows, Long.parseLong(rows)));
      read.stream().skip(1).forEach(line -> found.row(row(line)));
    }
    if (hasError) {
      throw new DDStoreException("Python: " + last.substring(ERROR.length()));
    }
    if (process.exitValue() != 0) {
      throw new IllegalStateException(
          "Python exited with status %d: %s"
              .formatted(process.exitValue(), Files.readString(errors)));
    }
  }

  private static Version.Read row(String line) {
    String[] words = line.split(" ", -1);
    return new Version.Read(
        Long.parseLong(words[0]),
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Float.parseFloat(words[4]),
        Float.parseFloat(words[5]),
        words[6]);
  }
}
