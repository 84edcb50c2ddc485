// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.ProcessTree;

/**
 * The outcome of a program that must leave no process and no shared memory.
 *
 * @param out its standard output
 * @param err its standard error
 */
record Program(int exitCode, String out, String err) {
  /** Binds to loopback, and shows no page. */
  private static final List<String> LOCAL_SUBMIT =
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
}
