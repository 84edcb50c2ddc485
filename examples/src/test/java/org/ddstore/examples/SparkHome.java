// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.contract.ChildJvm;
import org.ddstore.hosts.Host;
import org.ddstore.spark.SparkArchive;

/**
 * A release of Spark as the build has assembled it: its jars, and how its programs are started.
 *
 * @param name what is in it, for reports of tests
 * @param scala binary version
 * @param jars all jars of the release
 */
record SparkHome(String name, String scala, Path jars) {
  static final Path RUNTIME_JAR = Path.of(System.getProperty("ddstore.runtime.jar"));
  static final Path CLI_JAR = Path.of(System.getProperty("ddstore.cli.jar"));
  static final Path EXAMPLES_JAR = Path.of(System.getProperty("ddstore.examples.jar"));

  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path OTHERS = ROOT.resolve("target/spark-homes");
  static final Path JAVA_OPTIONS = ROOT.resolve("spark-connector/src/main/launcher/java-options");

  /** The one that everything is compiled against. */
  static SparkHome current() {
    return new SparkHome(
        System.getProperty("spark.version"),
        System.getenv("SPARK_SCALA_VERSION"),
        Path.of(System.getenv("SPARK_HOME"), "jars"));
  }

  /** All that are promised to work; but the current one, slow tests alone have them. */
  static List<SparkHome> supported() {
    return List.of(
        other("3.5", "2.13"),
        other("4.0", "2.13"),
        other("4.1", "2.13"),
        current(),
        PySpark.NEXT.home());
  }

  /**
   * Another release.
   *
   * @param line the first two numbers of its version
   */
  static SparkHome other(String line, String scala) {
    String version = System.getProperty("spark.version." + line);
    return new SparkHome(version, scala, OTHERS.resolve(version + "-" + scala).resolve("jars"));
  }

  /** The client of Spark Connect, without a Spark. */
  static SparkHome connectClient() {
    String name = "connect-client-" + System.getProperty("spark.version");
    return new SparkHome(name, "2.13", OTHERS.resolve(name).resolve("jars"));
  }

  /** The current Spark with the server of Spark Connect, as in a distribution. */
  static SparkHome connectServer() {
    String name = "connect-server-" + System.getProperty("spark.version");
    return new SparkHome(name, "2.13", OTHERS.resolve(name).resolve("jars"));
  }

  /** The class path of a program that brings its own code; the jars first, for the archive. */
  String classPath(Path... own) {
    StringBuilder path = new StringBuilder(SparkArchive.classPath(jars));
    for (Path entry : own) {
      path.append(File.pathSeparator).append(entry);
    }
    return path.toString();
  }

  /**
   * A program that binds to loopback and keeps all its files in one folder, those of its workers
   * and executors too.
   *
   * @param work where this home, as Spark sees it, lies too
   * @param arguments the main class first
   */
  ProcessBuilder program(Path work, String classPath, List<String> arguments) throws IOException {
    if (!Files.isDirectory(jars)) {
      throw new IllegalStateException(
          "no jars of Spark %s at %s: Maven puts them there from the root, with -Dddstore.slow=true"
              .formatted(name, jars));
    }
    Path temporary = Files.createDirectories(work.resolve("temporary"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + JAVA_OPTIONS);
    command.add("-Dspark.ddstore.slotsTimeout=2min"); // the machine may be busy
    command.addAll(List.of("-cp", classPath));
    command.addAll(arguments);
    List<String> options =
        new ArrayList<>(equals(current()) ? SparkArchive.quickStart() : ChildJvm.QUICK_START);
    options.add("-Djava.io.tmpdir=" + temporary);
    ProcessBuilder program = new ProcessBuilder(command).directory(work.toFile());
    program
        .environment()
        .putAll(
            Map.of(
                "SPARK_HOME",
                home().toString(),
                "SPARK_SCALA_VERSION",
                scala,
                "SPARK_LOCAL_IP",
                "127.0.0.1",
                "SPARK_LOCAL_DIRS",
                temporary.toString(),
                // Executors inherit these.
                "JDK_JAVA_OPTIONS",
                String.join(" ", options)));
    return program;
  }

  /** The same program, on one of two hosts, and binding to its address there. */
  static ProcessBuilder on(Host host, ProcessBuilder program) {
    ProcessBuilder moved = host.command(program.command()).directory(program.directory());
    moved.environment().putAll(program.environment());
    moved.environment().put("SPARK_LOCAL_IP", host.address());
    // No host sees that the ranks of the other one use the same processors.
    moved.environment().put("OMPI_MCA_mpi_yield_when_idle", "1");
    return moved;
  }

  /** With the same jars, and where a local cluster may make folders for its executors. */
  private Path home() throws IOException {
    Path home = Path.of(System.getProperty("java.io.tmpdir"), "homes", name + "-" + scala);
    if (Files.notExists(home)) {
      Files.createDirectories(home);
      Files.createSymbolicLink(home.resolve("jars"), jars);
    }
    return home;
  }

  @Override
  public String toString() {
    return "Spark " + name + " on Scala " + scala;
  }
}
