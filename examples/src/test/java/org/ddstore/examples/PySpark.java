// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.build.DocsCommand;
import org.ddstore.contract.Needed;

/**
 * PySpark from PyPI, in an environment of its own per lock file, installed when it is used first.
 *
 * @param lock file in the folder {@code python}
 */
record PySpark(String lock) {
  static final PySpark CURRENT = new PySpark("requirements.lock");

  /** The newest release, whose jars only its package has. */
  static final PySpark NEXT = new PySpark("requirements-4.3.lock");

  static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  static final Path LIBRARY = ROOT.resolve("native/target/c/libddstore_reader.so");

  /** Returns the Python of the environment. Skips the test if it cannot be installed. Blocks. */
  Path python() {
    Needed.check("libddstore_reader", LIBRARY.toFile().exists(), () -> LIBRARY + " was not built");
    try {
      Path file = ROOT.resolve("python").resolve(lock);
      return DocsCommand.environment(Needed.PYTHON, file, List.of("--system-site-packages"))
          .resolve("bin/python");
    } catch (IllegalStateException | IOException e) {
      Needed.check("PySpark", false, e::getMessage);
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Returns the Spark in the package. Skips the test if it cannot be installed. Blocks. */
  SparkHome home() {
    try {
      return new SparkHome(version(), "2.13", packageFolder().resolve("jars"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Path packageFolder() throws IOException {
    try (Stream<Path> versions = Files.list(python().getParent().resolveSibling("lib"))) {
      return versions.findFirst().orElseThrow().resolve("site-packages/pyspark");
    }
  }

  private String version() throws IOException {
    return Files.readAllLines(ROOT.resolve("python").resolve(lock)).stream()
        .filter(line -> line.startsWith("pyspark=="))
        .map(line -> line.split("[= ]+", 3)[1])
        .findFirst()
        .orElseThrow();
  }

  /**
   * Returns a program of Python with the package ddstore of the checkout.
   *
   * @param work folder of the program and its executors
   */
  ProcessBuilder program(Path work, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(python().toString(), "-B"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = installed(work, command);
    builder.environment().put("DDSTORE_READER_LIBRARY", LIBRARY.toString());
    builder
        .environment()
        .put("PYTHONPATH", ROOT.resolve("python/src") + ":" + ROOT.resolve("python/tests"));
    return builder;
  }

  /** Returns a command that finds the programs of the environment, without the package ddstore. */
  ProcessBuilder installed(Path work, List<String> command) throws IOException {
    ProcessBuilder builder = command(work, command);
    String path = builder.environment().get("PATH");
    builder.environment().put("PATH", python().getParent() + ":" + path);
    builder.environment().put("PYSPARK_PYTHON", python().toString());
    builder.environment().put("SPARK_HOME", home(work).toString());
    return builder;
  }

  /** Returns a home of Spark in which a local cluster may make folders for its executors. */
  private Path home(Path work) throws IOException {
    Path home = work.resolve("spark-home");
    if (Files.notExists(home)) {
      Files.createDirectory(home);
      try (Stream<Path> entries = Files.list(packageFolder())) {
        for (Path entry : entries.filter(each -> !each.endsWith("work")).toList()) {
          Files.createSymbolicLink(home.resolve(entry.getFileName()), entry);
        }
      }
    }
    return home;
  }

  /** Returns a command that keeps all its files in one folder. */
  static ProcessBuilder command(Path work, List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("DDSTORE_JAR", SparkHome.RUNTIME_JAR.toString());
    builder.environment().put("OMP_NUM_THREADS", "1");
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("SPARK_LOCAL_DIRS", work.toString());
    builder.environment().put("TMPDIR", work.toString());
    builder.environment().remove("SPARK_HOME");
    return builder;
  }
}
