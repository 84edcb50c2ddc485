// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.contract.ProcessTree;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The training of docs/examples.md, word for word, on a master and two workers: undisturbed, and
 * with an executor killed in its second epoch.
 */
@Tag("system")
@Tag("slow")
@Timeout(1800)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class VaeClusterIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path TARGET = ROOT.resolve("examples/target");
  private static final int WORKERS = 2;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static final int EPOCHS = 3;

  /**
   * 19 steps an epoch. Checkpoints are saved at steps 8 and 16, at the end of the epoch, and so on.
   */
  private static final String OPTIONS =
      " --rows 1400 --batch 64 --epochs " + EPOCHS + " --checkpoint-every 8 --json";

  /** The first checkpoint within the second epoch. */
  private static final long IN_SECOND_EPOCH = 4;

  private static final Pattern MANIFEST = Pattern.compile("checkpoint-.*-(\\d+)");

  @TempDir private static Path folder;
  private static StandaloneCluster cluster;
  private static JsonNode undisturbed;

  @TempDir private Path work;

  @BeforeAll
  static void start() throws Exception {
    VaeIT.checkPyTorch();
    cluster = StandaloneCluster.start(SparkHome.current(), folder, WORKERS);
  }

  @AfterAll
  static void stop() throws IOException, InterruptedException {
    if (cluster != null) {
      cluster.stop();
    }
  }

  /** Returns the command of the page, with another master, other folders and more options. */
  private ProcessBuilder submission() throws IOException {
    Matcher block =
        Pattern.compile("```shell\n(spark-submit --master spark://[^`]+VaeCommand[^`]+)\n```")
            .matcher(Files.readString(ROOT.resolve("docs/examples.md"), UTF_8));
    assertThat(block.find()).as("a command with VaeCommand in docs/examples.md").isTrue();
    String command =
        block
                .group(1)
                .replace("spark://HOST:7077", cluster.master())
                .replace("/shared/djl", TARGET.resolve("djl").toString())
                .replace("/shared/vae", work.resolve("saved").toString())
            + " --out "
            + work.resolve("out")
            + OPTIONS;
    SparkHome spark = SparkHome.current();
    ProcessBuilder java = spark.program(work, spark.classPath(), Program.LOCAL_SUBMIT);
    String function =
        "spark-submit() { exec '%s' \"$@\"; }%n".formatted(String.join("' '", java.command()));
    return java.command("bash", "-c", function + command).directory(ROOT.toFile());
  }

  /** After the download of PyTorch, which the command of the page submits. */
  @Test
  @Order(1)
  void namesTheOptionOfAnIllegalInput() throws Exception {
    Path none = folder.resolve("none");
    Program refused = Program.example(work, work, "vae --input " + none);

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("--input: no file or folder " + none);
    assertThat(TARGET.resolve("torch/complete")).exists();
  }

  @Test
  @Order(2)
  void trainsOnBothWorkers() throws Exception {
    Program program = Program.run(work, submission()).assertSuccess();

    undisturbed = program.json();
    assertThat(undisturbed.get("results")).hasSize(WORKERS);
    assertThat(undisturbed.get("results").get(0).get("attempt").asInt()).isEqualTo(1);
    VaeIT.assertCovered(undisturbed, EPOCHS, "1,200", "200");
    assertThat(work.resolve("out/samples.png")).isNotEmptyFile();
    for (int i = 0; i < WORKERS; i++) {
      try (Stream<Path> applications = Files.list(cluster.workDirectory(i))) {
        assertThat(applications).as("applications that worker %d had executors of", i).isNotEmpty();
      }
    }
  }

  @Test
  @Order(3)
  void aKilledExecutorDoesNotChangeTheLosses() throws Exception {
    Path out = work.resolve("out.txt");
    Path err = work.resolve("err.txt");
    ProcessBuilder builder = submission().redirectOutput(out.toFile()).redirectError(err.toFile());
    try (ProcessTree processes = ProcessTree.start(builder)) {
      await("a checkpoint in the second epoch")
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> !processes.isAlive() || lastCheckpoint() >= IN_SECOND_EPOCH);
      assertThat(processes.isAlive()).as(() -> "still training; " + read(err)).isTrue();
      assertThat(executors().findFirst().orElseThrow().destroyForcibly()).isTrue();
      assertThat(processes.awaitExit(LIMIT)).as(() -> "status; " + read(err)).isZero();
      processes.awaitAll(LIMIT);
    }

    JsonNode resumed =
        new ObjectMapper().readTree(read(out).lines().reduce((a, b) -> b).orElseThrow());
    for (JsonNode rank : resumed.get("results")) {
      assertThat(rank.get("attempt").asInt()).isEqualTo(2);
      assertThat(rank.get("resumedAt").asText()).startsWith("epoch 2, batch ");
    }
    VaeIT.assertSameLosses(resumed, undisturbed, EPOCHS);
    VaeIT.assertCovered(resumed, EPOCHS, "1,200", "200");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Returns the number of the last published checkpoint; 0 if there is none. */
  private long lastCheckpoint() throws IOException {
    Path saved = work.resolve("saved");
    if (Files.notExists(saved)) {
      return 0;
    }
    try (Stream<Path> files = Files.list(saved)) {
      return files
          .map(file -> MANIFEST.matcher(file.getFileName().toString()))
          .filter(Matcher::matches)
          .mapToLong(name -> Long.parseLong(name.group(1)))
          .max()
          .orElse(0);
    }
  }

  /** Returns the processes of executors that workers of this JVM have started. */
  private static Stream<ProcessHandle> executors() {
    return ProcessHandle.current()
        .descendants()
        .filter(
            process ->
                process.info().commandLine().orElse("").contains("CoarseGrainedExecutorBackend"));
  }
}
