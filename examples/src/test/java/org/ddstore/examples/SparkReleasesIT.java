package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The one runtime jar on every release that it is promised for, executors in JVMs of their own. */
@Tag("slow")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SparkReleasesIT {
  private static final List<String> TWO_EXECUTORS =
      List.of(
          "--master",
          "local-cluster[2,1,1024]",
          "--conf",
          "spark.sql.shuffle.partitions=4"); // not 200 for 1,000 rows

  @TempDir private static Path data;

  @TempDir private Path work;

  static List<SparkHome> supported() {
    return SparkHome.supported();
  }

  @BeforeAll
  static void write() throws IOException {
    SampleRows.write(data.resolve("rows"));
  }

  /** From a version 2 source, whose partitions differ between releases. */
  @ParameterizedTest
  @MethodSource("supported")
  void theQuickStartRuns(SparkHome spark) throws IOException, InterruptedException {
    Program program =
        submit(
            spark,
            "--conf",
            "spark.sql.sources.useV1SourceList=",
            "--class",
            QuickStart.class.getName(),
            "--jars",
            SparkHome.RUNTIME_JAR.toString(),
            SparkHome.EXAMPLES_JAR.toString(),
            data.resolve("rows").toString(),
            SampleRows.COLUMN);

    SampleRows.assertMeans(program.assertSuccess().lastLine(), 2);
  }

  /** Version 1 sources, sorted rows, ragged fields, all of it over the network; and explain. */
  @ParameterizedTest
  @MethodSource("supported")
  void theDemoFindsNoMismatch(SparkHome spark) throws IOException, InterruptedException {
    Program program =
        submit(
            spark,
            "--class",
            "org.ddstore.cli.Main",
            SparkHome.RUNTIME_JAR.toString(),
            "demo",
            "--input",
            data.resolve("rows").toString(),
            "--order-by",
            SampleRows.KEY,
            "--transport",
            "tcp",
            "--no-shortcut",
            "--json");

    JsonNode json = program.assertSuccess().json();
    assertThat(json.get("mismatches").asInt()).isZero();
    assertThat(json.get("rows").asInt()).isEqualTo(SampleRows.ROWS);
    assertThat(json.get("results")).hasSize(2);
  }

  @ParameterizedTest
  @MethodSource("supported")
  void theDoctorFindsThisRelease(SparkHome spark) throws IOException, InterruptedException {
    Program program =
        Program.run(
            work,
            spark.program(
                work,
                spark.classPath(SparkHome.RUNTIME_JAR),
                List.of("org.ddstore.cli.Main", "doctor", "--json")));

    JsonNode json = program.assertSuccess().json();
    assertThat(json.get("canRun").asBoolean()).isTrue();
    assertThat(json.get("results").findValuesAsText("spark"))
        .containsExactly(spark.name(), spark.name());
  }

  private Program submit(SparkHome spark, String... arguments)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(TWO_EXECUTORS);
    all.addAll(List.of(arguments));
    return Program.submit(spark, work, all);
  }
}
