// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.ddstore.contract.ProcessTree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./ddstore example train}, {@code graph} and {@code sparse}, as a user runs them. */
@Tag("system")
@Tag("slow")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TrainIT {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir Path directory;

  private Path temporary;

  @BeforeEach
  void requirePyTorch() throws IOException {
    VaeIT.checkPyTorch();
    temporary = Files.createDirectory(directory.resolve("temporary"));
  }

  /** Before a training has fetched PyTorch, which an illegal argument must not do. */
  @Test
  @Order(1)
  void rejectsAnUnknownOption() throws Exception {
    Program refused = Program.example(directory, temporary, "train --epoch 3");

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .contains("Unknown option", "'--epoch'", "--help")
        .doesNotContain("PyTorch");
  }

  @Test
  @Order(2)
  void lossFallsAndRanksAgreeOnTheParameters() throws Exception {
    Program training =
        Program.example(directory, temporary, "train --rows 1000 --epochs 3 --json")
            .assertSuccess();

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

  @Test
  @Order(3)
  void printsAnEpochBeforeTheOthersEnd() throws Exception {
    int epochs = 60;
    Path out = directory.resolve("out.txt");
    ProcessBuilder builder =
        Program.exampleBuilder(directory, temporary, "train --epochs " + epochs)
            .redirectOutput(out.toFile())
            .redirectError(directory.resolve("err.txt").toFile());
    try (ProcessTree processes = ProcessTree.start(builder)) {
      await()
          .atMost(LIMIT)
          .until(() -> !processes.isAlive() || Files.readString(out).contains("Epoch  1  "));
      assertThat(Files.readString(out)).doesNotContain("Epoch " + epochs, "Learned");
      assertThat(processes.awaitExit(LIMIT)).isZero();
      processes.awaitAll(LIMIT);
    }
    List<String> lines = Files.readAllLines(out);
    assertThat(lines.subList(0, epochs))
        .extracting(line -> line.replaceFirst("  loss .*", ""))
        .containsExactlyElementsOf(
            IntStream.rangeClosed(1, epochs).mapToObj("Epoch %2d"::formatted).toList());
    assertThat(lines.get(epochs)).startsWith("Learned on 2 ranks");
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

  private Program runWithPyTorch(Class<?> program) throws IOException, InterruptedException {
    return Program.withPyTorch(directory, temporary, program, List.of());
  }

  @Test
  @Order(4)
  void raggedRowsAreLearned() throws Exception {
    String options = " --rows 2000 --epochs 4 --json";
    List<JsonNode> reports =
        Program.withPyTorch(
                directory,
                temporary,
                ExampleSeries.class,
                List.of("graph" + options, "sparse" + options))
            .jsonLines();

    assertThat(reports)
        .extracting(report -> report.get("command").asText())
        .containsExactly("example graph", "example sparse");
    reports.forEach(TrainIT::assertLearned);
  }

  private static void assertLearned(JsonNode report) {
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
