// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.DDStoreException;

/**
 * A Python environment with the packages of a lock file in {@code benchmarks/src/main/peers}, beside
 * the packages of the system, in a folder below the user's cache. Its name has a hash of the lock
 * file and of the version of Python.
 */
final class PythonEnvironment {
  private static final String LIBRARY = "DDSTORE_READER_LIBRARY";

  /** The distribution's, for which its packages are; another one may come first on the path. */
  private static final String INTERPRETER =
      Files.isExecutable(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";

  private static final Duration DEADLINE = Duration.ofMinutes(10);

  /** Written last: without it, the folder is of an installation that has failed or still runs. */
  private static final String COMPLETE = "complete";

  private final String name;
  private final Path lock;
  private final Path folder;

  private PythonEnvironment(String name, Path lock, Path folder) {
    this.name = name;
    this.lock = lock;
    this.folder = folder;
  }

  /**
   * Returns the environment of {@code benchmarks/src/main/peers/<name>.lock}, installed or not.
   *
   * @throws DDStoreException if the lock file or the interpreter is missing
   */
  static PythonEnvironment of(String name) {
    Path lock = checkout().resolve("benchmarks/src/main/peers/" + name + ".lock");
    String cache =
        Objects.requireNonNullElse(
            System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home") + "/.cache");
    try {
      String hash = sha256(version(INTERPRETER), Files.readAllBytes(lock));
      return new PythonEnvironment(
          name, lock, Path.of(cache, "ddstore", "python", name + "-" + hash.substring(0, 16)));
    } catch (IOException e) {
      throw new DDStoreException("no environment of Python for %s: %s".formatted(name, e), e);
    }
  }

  /** Returns the folder of the checkout that the benchmarks were built in. */
  static Path checkout() {
    URI classes =
        URI.create(
            PythonEnvironment.class.getProtectionDomain().getCodeSource().getLocation().toString());
    return Path.of(classes).resolve("../../..").normalize(); // of benchmarks/target/*.jar
  }

  /**
   * Returns a program of the checkout in this environment, with the package ddstore.
   *
   * @param name path below {@code benchmarks/src/main/python}
   * @throws DDStoreException if the environment is not installed, or the C library was not built
   */
  ProcessBuilder program(String name, List<String> arguments) {
    if (!isInstalled()) {
      throw new DDStoreException(
          "%s is not installed: run ./ddstore bench %s --install".formatted(this.name, this.name));
    }
    List<String> command = new ArrayList<>();
    command.add(python().toString());
    command.add("-B"); // no files in the checkout
    command.add(checkout().resolve("benchmarks/src/main/python").resolve(name).toString());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    String named = System.getenv(LIBRARY);
    Path library =
        named == null
            ? checkout().resolve("native/target/c/libddstore_reader.so.1")
            : Path.of(named);
    if (!Files.exists(library)) {
      throw new DDStoreException(
          "%s needs libddstore_reader, and %s is missing: install libjansson-dev and libsodium-dev, and build again, or set %s"
              .formatted(this.name, library, LIBRARY));
    }
    builder.environment().put(LIBRARY, library.toString());
    builder
        .environment()
        .merge("PYTHONPATH", checkout().resolve("python/src").toString(), (a, b) -> b + ":" + a);
    return builder;
  }

  /** Returns the interpreter, which exists after {@link #install()}. */
  Path python() {
    return folder.resolve("bin/python");
  }

  boolean isInstalled() {
    return Files.exists(folder.resolve(COMPLETE));
  }

  /**
   * Installs the packages, unless they are. Blocks for at most ten minutes, and for as long as
   * another process installs them.
   *
   * @throws DDStoreException if the packages cannot be installed; the message has the reason of pip
   */
  void install() throws IOException, InterruptedException {
    Files.createDirectories(folder.getParent());
    try (FileChannel channel =
        FileChannel.open(
            folder.resolveSibling(folder.getFileName() + ".lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE)) {
      channel.lock(); // released with the channel
      if (!isInstalled()) {
        long deadlineNs = System.nanoTime() + DEADLINE.toNanos();
        run(
            deadlineNs,
            List.of(
                INTERPRETER, "-m", "venv", "--clear", "--system-site-packages", folder.toString()));
        run(
            deadlineNs,
            List.of(
                python().toString(),
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
