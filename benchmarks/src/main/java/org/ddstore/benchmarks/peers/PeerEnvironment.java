// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.local.ExitCleanup;
import org.ddstore.types.DDStoreException;

/**
 * A Python environment with the packages of a lock file, in the user's cache folder. Its name has a
 * hash of the lock file, so that another lock makes another environment.
 *
 * @param name name of the peer
 * @param lock file with versions and hashes
 * @param leastMinor least minor version of Python 3
 * @param isBesideDistribution whether the packages of the distribution, such as PyTorch, are
 *     visible
 */
public record PeerEnvironment(
    String name, Path lock, int leastMinor, boolean isBesideDistribution) {
  private static final Duration INSTALL_LIMIT = Duration.ofMinutes(10);
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(20);
  private static final Duration EXIT_LIMIT = Duration.ofSeconds(10);
  private static final List<String> INTERPRETERS =
      List.of("/usr/bin/python3", "python3", "python3.13", "python3.12", "python3.11");

  static Path cache() {
    String base = Objects.requireNonNullElse(System.getenv("XDG_CACHE_HOME"), "");
    Path root = base.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(base);
    return root.resolve("ddstore").resolve("peers");
  }

  /**
   * Returns the environment, beside the distribution's packages, of a lock file of this checkout.
   */
  public static PeerEnvironment of(String name, int leastMinor) {
    return new PeerEnvironment(
        name,
        KnownPeer.checkout().resolve("benchmarks/src/main/peers/%s.lock".formatted(name)),
        leastMinor,
        true);
  }

  private Path folder() throws IOException {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(lock));
      return cache().resolve(name + "-" + HexFormat.of().formatHex(hash, 0, 8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the interpreter, which exists after {@link #install()}. */
  public Path python() throws IOException {
    return folder().resolve("bin/python");
  }

  public boolean isInstalled() throws IOException {
    return Files.isExecutable(python());
  }

  /**
   * Installs the packages, unless they are. Another process may do so at the same time. Blocks for
   * at most some minutes.
   *
   * @throws DDStoreException if no interpreter suits, a registry does not answer, or a package
   *     cannot be installed
   */
  public void install() throws IOException {
    if (isInstalled()) {
      return;
    }
    Files.createDirectories(cache());
    Path part = Files.createTempDirectory(cache(), "." + name + "-");
    ExitCleanup cleanup = new ExitCleanup("ddstore-install", () -> delete(part));
    try {
      String interpreter =
          interpreter()
              .orElseThrow(
                  () ->
                      new DDStoreException(
                          "%s needs Python 3.%d or later, and neither %s nor a version of pyenv is: install one"
                              .formatted(name, leastMinor, String.join(", ", INTERPRETERS))));
      Stream<String> venv = Stream.of(interpreter, "-m", "venv");
      Stream<String> visible =
          isBesideDistribution ? Stream.of("--system-site-packages") : Stream.of();
      run(
          Stream.of(venv, visible, Stream.of(part.toString())).flatMap(words -> words).toList(),
          part.resolve("install.log"));
      run(
          List.of(
              part.resolve("bin/python").toString(),
              "-m",
              "pip",
              "install",
              "--quiet",
              "--disable-pip-version-check",
              "--no-deps",
              "--require-hashes",
              "--timeout",
              "30",
              "--retries",
              "2",
              "-r",
              lock.toString()),
          part.resolve("install.log"));
      Files.move(part, folder());
    } catch (FileSystemException e) {
      if (!isInstalled()) { // by another process meanwhile
        throw e;
      }
    } finally {
      cleanup.close();
    }
  }

  /** Returns programs of the path, then those of pyenv, most of which are not on the path. */
  private static List<String> candidates() throws IOException {
    String named = Objects.requireNonNullElse(System.getenv("PYENV_ROOT"), "");
    Path root =
        named.isEmpty() ? Path.of(System.getProperty("user.home"), ".pyenv") : Path.of(named);
    List<String> candidates = new ArrayList<>(INTERPRETERS);
    if (Files.isDirectory(root.resolve("versions"))) {
      try (Stream<Path> versions = Files.list(root.resolve("versions"))) {
        versions.sorted().forEach(each -> candidates.add(each.resolve("bin/python3").toString()));
      }
    }
    return candidates;
  }

  private Optional<String> interpreter() throws IOException {
    return candidates().stream().filter(this::suits).findFirst();
  }

  /** Returns whether a program is a Python of a version that suits, which can make environments. */
  private boolean suits(String candidate) {
    String test =
        "import sys, ensurepip; sys.exit(sys.version_info < (3, %d))".formatted(leastMinor);
    try (ChildProcesses processes = new ChildProcesses(EXIT_LIMIT)) {
      Process process =
          processes.start(
              new ProcessBuilder(candidate, "-c", test)
                  .redirectErrorStream(true)
                  .redirectOutput(ProcessBuilder.Redirect.DISCARD));
      return await(process, PROBE_LIMIT) && process.exitValue() == 0;
    } catch (IOException e) {
      return false; // no such program
    }
  }

  private void run(List<String> command, Path log) throws IOException {
    try (ChildProcesses processes = new ChildProcesses(EXIT_LIMIT)) {
      Process process =
          processes.start(
              new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()));
      if (!await(process, INSTALL_LIMIT)) {
        throw new DDStoreException(
            "%s was not installed within %d min: the registry of packages does not answer; try again later"
                .formatted(name, INSTALL_LIMIT.toMinutes()));
      }
      if (process.exitValue() != 0) {
        List<String> lines =
            new String(Files.readAllBytes(log), StandardCharsets.UTF_8).lines().toList();
        throw new DDStoreException(
            "%s cannot be installed: %s"
                .formatted(name, lines.isEmpty() ? command : lines.get(lines.size() - 1)));
      }
    }
  }

  private static boolean await(Process process, Duration limit) {
    try {
      return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted during an installation", e);
    }
  }

  /** Deletes a folder and what is in it, if it exists. */
  static void delete(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> walk = Files.walk(folder)) {
      for (Path each : walk.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + folder, e);
    }
  }
}
