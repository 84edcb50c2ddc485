// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.awaitility.Awaitility;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.spark.SparkArchive;
import org.ddstore.spark.StrictKryo;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code doctor} from the jars that are published, as a program and by spark-submit, and its words
 * in this JVM.
 */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class DoctorIT {
  private static final Path JAR = Path.of(System.getProperty("ddstore.runtime.jar"));
  private static final Path COMMANDS = Path.of(System.getProperty("ddstore.cli.jar"));
  private static final String SUBMIT = "org.apache.spark.deploy.SparkSubmit";
  private static final Path SPARK_HOME = Path.of(System.getenv("SPARK_HOME"));

  @TempDir private Path directory;
  private long pid;

  /** Also that executors load the library, which is in the jar and nowhere else on their path. */
  @Test
  void reportsTwoExecutorsAndLeavesNothing() throws IOException, InterruptedException {
    String text = run("org.ddstore.cli.Main", "doctor", "--json");

    JsonNode object = new ObjectMapper().readTree(text);
    assertThat(object.get("command").asText()).isEqualTo("doctor");
    assertThat(object.get("mismatches").asInt()).isZero();
    assertThat(object.get("canRun").asBoolean()).isTrue();
    assertThat(object.get("slots").asInt()).isEqualTo(2);
    assertThat(object.get("problems")).isEmpty();
    assertThat(object.get("results").findValuesAsText("executor")).containsExactly("0", "1");
    for (JsonNode result : object.get("results")) {
      assertThat(result.get("devices").asText())
          .matches("no device: .+|[0-9]+ by the CUDA driver.*");
      long executorPid = result.get("host").get("pid").asLong();
      assertThat(ProcessHandle.of(executorPid)).as("executor %d", executorPid).isEmpty();
    }
    assertNothingLeft();
    checkNative(object.get("results"));
  }

  private static void checkNative(JsonNode executors) {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    for (JsonNode executor : executors) {
      assertThat(executor.get("nativeLibrary").asText()).startsWith("loaded");
      assertThat(executor.get("gatherKernel").asText()).startsWith("native (");
    }
    String noFabric = FabricBackend.missing();
    Needed.check("fabric", noFabric == null, () -> noFabric);
    for (JsonNode executor : executors) {
      assertThat(detail(executor, "fabric")).isNotBlank();
    }
  }

  /** Returns the reported detail of an available transport. */
  static String detail(JsonNode executor, String transport) {
    for (JsonNode each : executor.get("transports")) {
      if (each.get("name").asText().equals(transport)) {
        assertThat(each.get("available").asBoolean()).as("%s", each).isTrue();
        return each.get("detail").asText();
      }
    }
    throw new AssertionError("no %s in %s".formatted(transport, executor));
  }

  @Test
  @Tag("slow")
  void printsTables() throws IOException {
    Segment kept;
    try (SegmentWriter writer =
        SegmentWriter.create(
            Backing.SHM, Path.of("/dev/shm"), "kept", Schema.of(Field.fixed("x", DType.UINT8)))) {
      writer.append(ByteBuffer.allocate(1));
      kept = writer.seal();
    }
    Path file = Path.of(kept.path());
    Process other = new ProcessBuilder("sleep", "600").redirectInput(file.toFile()).start();
    try (FileChannel channel = FileChannel.open(file)) { // mapped twice and open
      channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
      kept.unlink();
      checkTables(other.pid());
    } finally {
      other.destroyForcibly().onExit().join();
      kept.release();
    }
  }

  private static void checkTables(long otherPid) throws IOException {
    try (SparkSession spark = local(2)) {
      Outcome outcome = InProcess.run("doctor");

      assertThat(outcome.exitCode()).as(outcome.err()).isZero();
      assertThat(outcome.out())
          .containsPattern("(?m)^executor +transport +available +detail$")
          .containsPattern("(?m)^driver +same host +yes ")
          .containsPattern("(?m)^locked memory +.*, at most ")
          .containsPattern("(?m)^KEPT +8\\.00 KiB of segments that were deleted$")
          .containsPattern(
              "(?m)^  by +process %d \\(java\\) on .+, 8\\.00 KiB$"
                  .formatted(ProcessHandle.current().pid()))
          .containsPattern(
              "(?m)^  by +process %d \\(sleep\\) on .+, 4\\.00 KiB$".formatted(otherPid))
          .contains("A store can run here.\n");
      assertThat(spark.sparkContext().isStopped()).as("stopped by a command").isFalse();
    }
  }

  @Test
  void reportsAProblemAndFails() throws IOException {
    SparkSession spark = local(1);
    try {
      Outcome outcome = InProcess.run("doctor");

      assertThat(outcome.exitCode()).isEqualTo(1);
      assertThat(outcome.out())
          .contains(
              "PROBLEM  2 ranks need 2 slots, 1 available",
              "  do     spark.ddstore.ranks=1, or local[2] as master")
          .contains("A store cannot run here.\n");
    } finally {
      spark.stop();
    }
  }

  /** A Spark of this JVM, on which a store of two ranks is wanted. */
  private static SparkSession local(int slots) {
    SparkSession.Builder builder = SparkSession.builder();
    StrictKryo.SETTINGS.forEach(builder::config);
    return builder
        .master("local[%d]".formatted(slots))
        .config("spark.ui.enabled", "false")
        .config("spark.ddstore.ranks", "2")
        .getOrCreate();
  }

  @Test
  @Tag("slow")
  void usesTheMasterOfSparkSubmit() throws IOException, InterruptedException {
    String text =
        run(
            SUBMIT,
            "--master",
            "local[3]",
            "--conf",
            "spark.ui.enabled=false",
            "--class",
            "org.ddstore.cli.Main",
            "--jars",
            JAR.toString(),
            COMMANDS.toString(),
            "doctor",
            "--json");

    JsonNode object = new ObjectMapper().readTree(text.lines().reduce((a, b) -> b).orElseThrow());
    assertThat(object.get("master").asText()).isEqualTo("local[3]");
    assertThat(object.get("slots").asInt()).isEqualTo(3);
    assertThat(object.get("results").findValuesAsText("executor")).containsExactly("driver");
  }

  @Test
  @Tag("slow")
  void terminatedCommandCleansUp() throws IOException, InterruptedException {
    Process process = start("org.ddstore.cli.Main", "doctor");
    Awaitility.await("executors")
        .atMost(Duration.ofMinutes(5))
        .until(() -> process.children().count() == 2);
    List<ProcessHandle> executors = process.children().toList();

    process.destroy();

    assertThat(process.waitFor(90, TimeUnit.SECONDS)).as("ended").isTrue();
    assertThat(executors).noneMatch(ProcessHandle::isAlive);
    assertNothingLeft();
  }

  /** Runs a class beside Spark's; gives its standard output. */
  private String run(String mainClass, String... arguments)
      throws IOException, InterruptedException {
    Process process = start(mainClass, arguments);

    assertThat(process.waitFor())
        .as("exit status; stderr: %s", Files.readString(directory.resolve("err.txt"), UTF_8))
        .isZero();
    return Files.readString(directory.resolve("out.txt"), UTF_8);
  }

  private Process start(String mainClass, String... arguments) throws IOException {
    Path temporary = Files.createDirectories(directory.resolve("temporary"));
    Path options =
        Path.of(
            System.getProperty("ddstore.root"), "spark-connector/src/main/launcher/java-options");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + options);
    command.add("-Djava.io.tmpdir=" + temporary);
    command.add("-Dspark.ddstore.slotsTimeout=2min"); // the machine may be busy
    String own = mainClass.equals(SUBMIT) ? "" : COMMANDS + ":" + JAR + ":"; // else by --jars
    command.addAll(List.of("-cp", own + SPARK_HOME.resolve("jars") + "/*", mainClass));
    command.addAll(List.of(arguments));

    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(directory.resolve("out.txt").toFile())
            .redirectError(directory.resolve("err.txt").toFile());
    builder.environment().put("SPARK_LOCAL_DIRS", temporary.toString());
    builder.environment().put("JDK_JAVA_OPTIONS", String.join(" ", SparkArchive.quickStart()));
    Process process = builder.start();
    pid = process.pid();
    return process;
  }

  private void assertNothingLeft() throws IOException {
    assertThat(directory.resolve("temporary")).isEmptyDirectory();
    try (Stream<Path> work = Files.list(SPARK_HOME.resolve("work"))) {
      assertThat(work.map(path -> path.getFileName().toString()))
          .noneMatch(name -> name.startsWith("ddstore-" + pid + "-"));
    }
  }
}
