// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.ddstore.contract.Needed;
import org.ddstore.spark.wire.NeedsPython;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./ddstore example vae}, as a user runs it. */
@Tag("system")
@Tag("slow")
class VaeIT {
  /**
   * Maximum difference, in percent, of losses of different numbers of ranks, due to the rounding of
   * float.
   */
  private static final double FLOAT_PERCENT = 0.01;

  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final int ROWS = 700;
  private static final int STEPS = 10; // an epoch

  private static final String TRAINING = "--rows " + ROWS + " --batch 60 --json ";

  @TempDir private static Path shared;

  @TempDir private Path directory;

  private Path temporary;
  private Path out;

  @BeforeEach
  void requirePyTorch() throws IOException {
    checkPyTorch();
    temporary = Files.createDirectory(directory.resolve("temporary"));
    out = directory.resolve("out");
  }

  static void checkPyTorch() {
    String machine = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
    Needed.check("PyTorch", machine.equals("Linux on amd64"), () -> machine);
  }

  static List<Double> numbers(JsonNode array) {
    List<Double> numbers = new ArrayList<>();
    array.forEach(number -> numbers.add(number.asDouble()));
    return numbers;
  }

  /** Checks the losses of a run against those of the first epochs of another one. */
  static void assertSameLosses(JsonNode run, JsonNode expected, int epochs) {
    for (String losses : List.of("losses", "testLosses")) {
      List<Double> actual = numbers(run.get(losses));
      List<Double> others = numbers(expected.get(losses));
      assertThat(actual).as(losses).hasSize(epochs);
      assertThat(others).as("other " + losses).hasSizeGreaterThanOrEqualTo(epochs);
      for (int i = 0; i < epochs; i++) {
        assertThat(actual.get(i))
            .as("%s of epoch %d", losses, i + 1)
            .isCloseTo(others.get(i), withinPercentage(FLOAT_PERCENT));
      }
    }
  }

  /** Checks that every epoch delivered each image once and unchanged. */
  static void assertCovered(JsonNode run, int epochs, String training, String tests) {
    assertThat(run.get("mismatches").asLong()).isZero();
    assertThat(run.get("coverage")).hasSize(epochs);
    for (JsonNode epoch : run.get("coverage")) {
      assertThat(epoch.get("exact").asBoolean()).isTrue();
      assertThat(epoch.get("training").asText())
          .startsWith(training + " samples, each exactly once; " + training + " delivered");
      assertThat(epoch.get("test").asText()).startsWith(tests + " samples, each exactly once");
    }
  }

  /** Returns the report of three epochs on two ranks, whose pictures are in the shared folder. */
  private static JsonNode onTwoRanks() throws IOException, InterruptedException {
    Path temporary = Files.createDirectories(shared.resolve("temporary"));
    String arguments = TRAINING + "--epochs 3 --out " + shared.resolve("out");
    return Program.example(shared, temporary, "vae " + arguments).assertSuccess().json();
  }

  /**
   * The launcher trains on two ranks. The other numbers of ranks, the resumed training, and Python
   * share a Spark.
   */
  @Test
  void everyNumberOfRanksGivesTheSameLosses() throws Exception {
    JsonNode two = onTwoRanks();

    List<Double> losses = numbers(two.get("losses"));
    assertThat(losses.get(2)).isEqualTo(two.get("finalLoss").asDouble());
    assertThat(losses.get(0)).isBetween(250.0, 550.0);
    assertThat(losses.get(2)).isLessThan(0.8 * losses.get(0));
    assertThat(two.get("samplesPerSecond").asDouble()).isPositive();
    assertThat(two.get("utilisation").asDouble()).isBetween(0.1, 1.0);
    assertThat(two.get("machine").get("cores").asInt()).isPositive();
    assertCovered(two, 3, "600", "100");
    for (String name : List.of("reconstructions.png", "samples.png")) {
      assertThat(ImageIO.read(shared.resolve("out").resolve(name).toFile()).getWidth())
          .isEqualTo(604);
    }

    String saved = "--checkpoints " + directory.resolve("saved");
    List<String> runs =
        new ArrayList<>(
            vae(
                "--epochs 2 --ranks 1",
                "--epochs 2 --ranks 4",
                "--epochs 1 --ranks 2 " + saved,
                "--epochs 2 --ranks 3 " + saved));
    boolean hasPython = hasPython();
    if (hasPython) {
      runs.add("python %d %s %s".formatted(ROWS, directory.resolve("python"), ROOT));
    }
    List<JsonNode> others =
        Program.withPyTorch(directory, temporary, ExampleSeries.class, runs).jsonLines();
    assertThat(others).hasSameSizeAs(runs);

    assertThat(others.get(0).get("results")).hasSize(1);
    assertSameLosses(others.get(0), two, 2);
    assertThat(others.get(1).get("results")).hasSize(4);
    assertSameLosses(others.get(1), two, 2);
    JsonNode resumed = others.get(3);
    assertThat(resumed.get("results").get(0).get("resumedAt").asText())
        .isEqualTo("epoch 2, batch 0");
    assertSameLosses(resumed, two, 2);
    assertCovered(resumed, 2, "600", "100");
    if (hasPython) {
      assertPython(others.get(4), two);
    }
    try (Stream<Path> left = Files.list(out)) {
      assertThat(left.map(Path::getFileName).map(Path::toString))
          .as("files left")
          .containsExactlyInAnyOrder("reconstructions.png", "samples.png");
    }
  }

  private static boolean hasPython() {
    Path library = ROOT.resolve("native/target/c/libddstore_reader.so");
    return !new NeedsPython.Condition().evaluateExecutionCondition(null).isDisabled()
        && !Needed.condition("libddstore_reader", Files.exists(library), library + " was not built")
            .isDisabled();
  }

  /** The same losses on two ranks, and after a rank was killed and three have continued. */
  private static void assertPython(JsonNode python, JsonNode two) {
    assertSameLosses(python, two, 3);
    JsonNode resumed = python.get("resumed");
    assertThat(resumed.get("ranks").asInt()).as("ranks of the last checkpoint").isEqualTo(2);
    assertThat(resumed.get("epoch").asInt() * STEPS + resumed.get("batch").asInt())
        .as("steps before the last checkpoint, of 17 before the loss")
        .isEqualTo(16);
    assertSameLosses(resumed, two, 3);
  }

  @Test
  void printsWhereItResumedBeforeTheEpochs() throws Exception {
    String run =
        "vae --rows 700 --batch 60 --out %s --checkpoints %s --epochs "
            .formatted(out, directory.resolve("saved"));

    List<String> lines =
        Program.withPyTorch(
                directory, temporary, ExampleSeries.class, List.of(run + 1, run + 3, run + 3))
            .out()
            .lines()
            .filter(line -> line.matches("(Epoch|Resumed|Complete) .*"))
            .map(line -> line.replaceFirst("  loss .*|  the .*", ""))
            .toList();

    assertThat(lines)
        .containsExactly(
            "Epoch  1",
            "Resumed at epoch 2, batch 0",
            "Epoch  2",
            "Epoch  3",
            "Epoch  1", // of the checkpoint, which has all
            "Epoch  2",
            "Epoch  3",
            "Complete");
  }

  /** Returns runs of the command for {@link ExampleSeries}. */
  private List<String> vae(String... runs) {
    return Stream.of(runs).map(run -> "vae " + TRAINING + "--out " + out + " " + run).toList();
  }
}
