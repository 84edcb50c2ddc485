// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.ddstore.spark.StrictKryo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The one runtime jar on a release that it is promised for, executors in JVMs of their own. A class
 * for each release: Surefire runs classes at the same time.
 */
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // the cases are those of the instance
abstract class OnSparkRelease {
  static final int FEW_EXECUTORS = 2;
  static final int MORE_EXECUTORS = 4;
  static final long FEW_ROWS = 10_000;

  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** Sets the rows of all releases, each with few and more executors: too long for every run. */
  private static final Long ROWS = Long.getLong("ddstore.rows");

  /** The settings of Spark's own serializer. */
  private static final Map<String, String> JAVA = Map.of();

  private final SparkHome spark;
  private final int usualExecutors;
  private final long usualRows;

  /**
   * @param executors of the usual case
   * @param rows of the usual case
   */
  OnSparkRelease(SparkHome spark, int executors, long rows) {
    this.spark = spark;
    this.usualExecutors = executors;
    this.usualRows = rows;
  }

  SparkHome spark() {
    return spark;
  }

  Stream<Arguments> cases() {
    if (ROWS == null) {
      return Stream.of(JAVA, StrictKryo.SETTINGS)
          .map(serializer -> Arguments.of(usualExecutors, usualRows, serializer));
    }
    return IntStream.of(FEW_EXECUTORS, MORE_EXECUTORS)
        .mapToObj(executors -> Arguments.of(executors, ROWS, JAVA));
  }

  /**
   * Runs every type there and back, all modes of writes, and SQL; the quick start, from a version 2
   * source, whose partitions differ between releases; and the demo: version 1 sources, sorted rows,
   * ragged fields, all of it over the network; and explain. One application, see {@link
   * ReleaseProgram}.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void runsTablesQuickStartAndDemoOnTheRelease(
      int executors, long rows, Map<String, String> serializer, @TempDir Path work)
      throws IOException, InterruptedException {
    String files = SampleRows.path();
    List<String> arguments = new ArrayList<>();
    serializer.forEach((key, value) -> arguments.addAll(List.of("--conf", key + "=" + value)));
    arguments.addAll(
        List.of(
            "--master",
            "local-cluster[%d,1,1024]".formatted(executors),
            "--conf",
            "spark.sql.shuffle.partitions=4", // not 200 for 1,000 rows
            "--conf",
            "spark.sql.sources.useV1SourceList=",
            "--class",
            ReleaseProgram.class.getName(),
            "--jars",
            SparkHome.RUNTIME_JAR + "," + SparkHome.CLI_JAR,
            SparkHome.EXAMPLES_JAR.toString(),
            Long.toString(rows),
            files,
            SampleRows.COLUMN,
            "demo",
            "--input",
            files,
            "--order-by",
            SampleRows.KEY,
            "--transport",
            "tcp",
            "--no-shortcut",
            "--seconds",
            "0.2",
            "--json"));

    Program program =
        Program.submit(
            spark,
            work,
            arguments,
            ROOT.resolve("examples/target/test-classes"),
            ROOT.resolve("spark-connector/target/test-classes"));

    List<String> lines = program.assertSuccess().out().lines().toList();
    assertThat(lines).hasSize(3).startsWith("equal");
    SampleRows.assertMeans(lines.get(1), executors);
    JsonNode json = program.json();
    assertThat(json.get("mismatches").asInt()).isZero();
    assertThat(json.get("rows").asInt()).isEqualTo(SampleRows.ROWS);
    assertThat(json.get("results")).hasSize(executors);
  }
}
