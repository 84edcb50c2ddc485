// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.DDStoreException;

/**
 * A Python environment with the packages of a lock file in {@code benchmarks/peers}, beside the
 * packages of the system, in a folder below the user's cache.
 */
final class PythonEnvironment {
  private static final Duration DEADLINE = Duration.ofMinutes(10);

  /** Written last: without it, the folder is of an installation that has failed or still runs. */
  private static final String COMPLETE = "complete";

  private final Path lock;
  private final Path folder;

  private PythonEnvironment(Path lock, Path folder) {
    this.lock = lock;
    this.folder = folder;
  }

  /**
   * Returns the environment of {@code benchmarks/peers/<name>.lock}, installed or not.
   *
   * @throws DDStoreException if the lock file or the interpreter is missing
   */
  static PythonEnvironment of(String name) {
    Path lock = PythonProgram.checkout().resolve("benchmarks/peers/" + name + ".lock");
    String cache =
        Objects.requireNonNullElse(
            System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home") + "/.cache");
    try {
      String hash = sha256(version(PythonProgram.defaultInterpreter()), Files.readAllBytes(lock));
      return new PythonEnvironment(
          lock, Path.of(cache, "ddstore", "python", name + "-" + hash.substring(0, 16)));
    } catch (IOException e) {
      throw new DDStoreException("no environment of Python for %s: %s".formatted(name, e), e);
    }
  }

  /** Returns the interpreter of the environment, or empty if it is not installed. */
  Optional<Path> python() {
    return Files.exists(folder.resolve(COMPLETE))
        ? Optional.of(folder.resolve("bin/python"))
        : Optional.empty();
  }

  /**
   * Returns the interpreter of the environment, which is installed first unless it is complete.
   * Blocks for at most ten minutes, and for as long as another process installs it.
   *
   * @throws DDStoreException if the packages cannot be installed; the message has the reason of pip
   */
  Path install() throws IOException, InterruptedException {
    Files.createDirectories(folder.getParent());
    try (FileChannel channel =
        FileChannel.open(
            folder.resolveSibling(folder.getFileName() + ".lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE)) {
      channel.lock(); // released with the channel
      if (python().isEmpty()) {
        long deadlineNs = System.nanoTime() + DEADLINE.toNanos();
        String interpreter = PythonProgram.defaultInterpreter();
        run(
            deadlineNs,
            List.of(
                interpreter, "-m", "venv", "--clear", "--system-site-packages", folder.toString()));
        run(
            deadlineNs,
            List.of(
                folder.resolve("bin/python").toString(),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--retries=1",
                "--no-deps",
                "--require-hashes",
                "--requirement=" + lock));
        Files.createFile(folder.resolve(COMPLETE));
      }
    }
    return folder.resolve("bin/python");
  }

  private void run(long deadlineNs, List<String> command) throws IOException, InterruptedException {
    File output = File.createTempFile("ddstore-install-", ".log");
    try {
      Process process =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
      try {
        if (!process.waitFor(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          throw failure("it has not ended within %d min".formatted(DEADLINE.toMinutes()));
        }
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
      if (process.exitValue() != 0) {
        throw failure(reason(Files.readString(output.toPath(), StandardCharsets.UTF_8)));
      }
    } finally {
      Files.delete(output.toPath());
    }
  }

  /** Returns the first error of pip, or else the last line. */
  private static String reason(String output) {
    List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
    return lines.stream()
        .filter(line -> line.startsWith("ERROR:"))
        .findFirst()
        .or(() -> lines.stream().reduce((a, b) -> b))
        .map(String::strip)
        .orElse("no output");
  }

  private DDStoreException failure(String reason) {
    return new DDStoreException(
        "cannot install the Python packages of %s in %s: %s: install python3-venv, and check that pip reaches its package index"
            .formatted(lock, folder, reason));
  }

  private static byte[] version(String interpreter) throws IOException {
    Process process = new ProcessBuilder(interpreter, "-VV").redirectErrorStream(true).start();
    return process.getInputStream().readAllBytes();
  }

  private static String sha256(byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String toString() {
    return "PythonEnvironment[%s]".formatted(folder);
  }
}
