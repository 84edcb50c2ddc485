// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.contract.Needed;
import org.ddstore.contract.ProcessTree;
import org.ddstore.spark.SparkArchive;

/**
 * The outcome of a program that must leave no process and no shared memory.
 *
 * @param out its standard output
 * @param err its standard error
 */
record Program(int exitCode, String out, String err) {
  /** Binds to loopback, and shows no page. */
  static final List<String> LOCAL_SUBMIT =
      List.of(
          "org.apache.spark.deploy.SparkSubmit",
          "--conf",
          "spark.driver.host=127.0.0.1",
          "--conf",
          "spark.driver.bindAddress=127.0.0.1",
          "--conf",
          "spark.ui.enabled=false");

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Duration EXECUTORS_LIMIT = Duration.ofMinutes(5);

  /**
   * Runs {@code spark-submit} of a release.
   *
   * @param own what the driver has beside the release
   */
  static Program submit(SparkHome spark, Path work, List<String> arguments, Path... own)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(LOCAL_SUBMIT);
    all.addAll(arguments);
    return run(work, spark.program(work, spark.classPath(own), all));
  }

  /**
   * Runs {@code ./ddstore example}, which downloads PyTorch if an example needs it.
   *
   * @param temporary folder of temporary files, which exists
   * @param line words of the command
   */
  static Program example(Path work, Path temporary, String line)
      throws IOException, InterruptedException {
    return run(work, exampleBuilder(work, temporary, line));
  }

  /** Returns the command of {@link #example}, which a test starts itself. */
  static ProcessBuilder exampleBuilder(Path work, Path temporary, String line) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("ddstore.root"), "ddstore").toString());
    command.add("example");
    command.addAll(List.of(line.split(" ", -1)));
    ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile());
    builder.environment().put("DDSTORE_UNDER_TEST", "1");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("JDK_JAVA_OPTIONS", javaOptions(temporary));
    builder.environment().remove("SPARK_LOCAL_DIRS");
    return builder;
  }

  /** Runs a class of the tests with PyTorch, which an example has downloaded. */
  static Program withPyTorch(Path work, Path temporary, Class<?> main, List<String> arguments)
      throws IOException, InterruptedException {
    Path target = Path.of(System.getProperty("ddstore.root"), "examples", "target");
    Path torch = target.resolve("torch");
    Needed.check("PyTorch", Files.exists(torch.resolve("complete")), () -> "not in " + torch);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + SparkHome.JAVA_OPTIONS);
    command.add("-cp");
    command.add(new SparkArchive().classPath() + File.pathSeparator + torch + "/*");
    command.add(main.getName());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile());
    Map<String, String> environment = builder.environment();
    environment.put("JDK_JAVA_OPTIONS", javaOptions(temporary));
    environment.remove("SPARK_LOCAL_DIRS");
    environment.put("DJL_CACHE_DIR", target.resolve("djl").toString());
    environment.put("DJL_OFFLINE", "true");
    environment.put("OMP_NUM_THREADS", "1");
    return run(work, builder).assertSuccess();
  }

  private static String javaOptions(Path temporary) {
    return String.join(" ", SparkArchive.quickStart()) + " -Djava.io.tmpdir=" + temporary;
  }

  /** Runs a program to its end. */
  static Program run(Path work, ProcessBuilder builder) throws IOException, InterruptedException {
    return run(work, builder, LIMIT);
  }

  /**
   * Runs a program to its end.
   *
   * @param limit after which it fails
   */
  static Program run(Path work, ProcessBuilder builder, Duration limit)
      throws IOException, InterruptedException {
    Path out = work.resolve("out.txt");
    Path err = work.resolve("err.txt");
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    try (ProcessTree processes = ProcessTree.start(builder)) {
      int exitCode = processes.awaitExit(limit);
      processes.awaitAll(EXECUTORS_LIMIT);
      processes.assertNothingLeft();
      return new Program(exitCode, Files.readString(out, UTF_8), Files.readString(err, UTF_8));
    }
  }

  Program assertSuccess() {
    assertThat(exitCode).as("exit status; standard error: %s", err).isZero();
    return this;
  }

  /** The last line of the output. */
  String lastLine() {
    return out.lines().reduce((a, b) -> b).orElse("");
  }

  JsonNode json() throws IOException {
    return new ObjectMapper().readTree(lastLine());
  }

  /** The lines of the output that are JSON objects. */
  List<JsonNode> jsonLines() throws IOException {
    List<JsonNode> objects = new ArrayList<>();
    for (String line : out.lines().filter(line -> line.startsWith("{")).toList()) {
      objects.add(new ObjectMapper().readTree(line));
    }
    return objects;
  }
}
