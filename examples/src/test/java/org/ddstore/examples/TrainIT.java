// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.ddstore.spark.SparkArchive;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ./ddstore example train}, {@code graph} and {@code sparse}, as a user runs them. */
@Tag("system")
@Tag("slow")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TrainIT {
  @TempDir Path directory;

  private Path temporary;

  @BeforeEach
  void requirePyTorch() throws IOException {
    String machine = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
    Needed.check("PyTorch", machine.equals("Linux on amd64"), () -> machine);
    temporary = Files.createDirectory(directory.resolve("temporary"));
  }

  private Program run(String example, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("ddstore.root"), "ddstore").toString());
    command.addAll(List.of("example", example));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder
        .environment()
        .put(
            "JDK_JAVA_OPTIONS",
            String.join(" ", SparkArchive.quickStart()) + " -Djava.io.tmpdir=" + temporary);
    builder.environment().remove("SPARK_LOCAL_DIRS");
    return Program.run(directory, builder);
  }

  /** Before a training has fetched PyTorch, which an illegal argument must not do. */
  @Test
  @Order(1)
  void rejectsAnUnknownOption() throws Exception {
    Program refused = run("train", "--epoch", "3");

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .contains("Unknown option", "'--epoch'", "--help")
        .doesNotContain("PyTorch");
  }

  @Test
  @Order(2)
  void lossFallsAndRanksAgreeOnTheParameters() throws Exception {
    Program training = run("train", "--rows", "1000", "--epochs", "3", "--json").assertSuccess();

    JsonNode ranks = training.json().get("results");
    assertThat(ranks).hasSize(2);
    for (JsonNode rank : ranks) {
      JsonNode losses = rank.get("losses");
      assertThat(losses).hasSize(3);
      assertThat(losses.get(2).asDouble()).isLessThan(0.8 * losses.get(0).asDouble());
      assertThat(rank.get("isExact").asBoolean()).isTrue();
      assertThat(rank.get("receipts"))
          .allSatisfy(
              receipt ->
                  assertThat(receipt.asText())
                      .startsWith("1,000 samples, each at most once; 896 delivered"));
      assertThat(rank.get("parameters").get(0)).isEqualTo(rank.get("parameters").get(1));
    }
    assertThat(ranks.get(0).get("parameters")).isEqualTo(ranks.get(1).get("parameters"));
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(
              left.filter(file -> !file.endsWith("hsperfdata_" + System.getProperty("user.name"))))
          .as("temporary files left")
          .isEmpty();
    }
  }

  /** A write to the one is seen in the other. */
  @Test
  @Order(3)
  void arraySharesTheMemoryOfItsBatch() throws Exception {
    assertThat(runWithPyTorch(ArrayProgram.class).lastLine())
        .isEqualTo("float32[8, 28, 28], 7.0, 8.0");
  }

  @Test
  @Order(3)
  void gradientsDoNotUseFreeMemory() throws Exception {
    assertThat(runWithPyTorch(GradientProgram.class).lastLine()).startsWith("0.5 1.0 0.5; ");
  }

  /** Runs a program with PyTorch, which an earlier test has fetched. */
  private Program runWithPyTorch(Class<?> program) throws IOException, InterruptedException {
    Path target = Path.of(System.getProperty("ddstore.root"), "examples", "target");
    Path torch = target.resolve("torch");
    Needed.check("PyTorch", Files.exists(torch.resolve("complete")), () -> "not in " + torch);
    String classPath = System.getProperty("java.class.path") + File.pathSeparator + torch + "/*";
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Djava.io.tmpdir=" + temporary,
            "-cp",
            classPath,
            program.getName());
    builder.environment().put("DJL_CACHE_DIR", target.resolve("djl").toString());
    builder.environment().put("DJL_OFFLINE", "true");
    return Program.run(directory, builder).assertSuccess();
  }

  @ParameterizedTest
  @ValueSource(strings = {"graph", "sparse"})
  @Order(4)
  void raggedRowsAreLearned(String example) throws Exception {
    Program training = run(example, "--rows", "2000", "--epochs", "4", "--json").assertSuccess();

    JsonNode report = training.json();
    assertThat(report.get("command").asText()).isEqualTo("example " + example);
    assertThat(report.get("sameParameters").asBoolean()).isTrue();
    assertThat(report.get("results")).hasSize(2);
    for (JsonNode rank : report.get("results")) {
      assertThat(rank.get("losses")).hasSize(4);
      assertThat(rank.get("losses").get(3).asDouble())
          .isLessThan(0.8 * rank.get("losses").get(0).asDouble());
      assertThat(rank.get("isExact").asBoolean()).isTrue();
    }
  }
}
