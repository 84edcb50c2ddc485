// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The one runtime jar on a release that it is promised for, executors in JVMs of their own. */
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
abstract class OnSparkReleases {
  static final int FEW_EXECUTORS = 2;
  static final int MORE_EXECUTORS = 4;

  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  @TempDir private Path work;

  /**
   * Runs every type there and back, all modes of writes, and SQL; the quick start, from a version 2
   * source, whose partitions differ between releases; and the demo: version 1 sources, sorted rows,
   * ragged fields, all of it over the network; and explain. One application, see {@link
   * ReleaseProgram}.
   */
  void runTablesQuickStartAndDemo(SparkHome spark, int executors, long rows)
      throws IOException, InterruptedException {
    String files = SampleRows.path();
    List<String> arguments =
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
            "--json");

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
