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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The command line without {@code spark-submit}: it starts every release's executors itself. */
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
@Tag("always")
class DoctorOnSparkReleasesIT {
  @TempDir private Path work;

  static List<SparkHome> supported() {
    return SparkHome.supported();
  }

  @ParameterizedTest
  @MethodSource("supported")
  void doctorReportsTheRelease(SparkHome spark) throws IOException, InterruptedException {
    Program program =
        Program.run(
            work,
            spark.program(
                work,
                spark.classPath(SparkHome.RUNTIME_JAR, SparkHome.CLI_JAR),
                List.of("org.ddstore.cli.Main", "doctor", "--json")));

    JsonNode json = program.assertSuccess().json();
    assertThat(json.get("canRun").asBoolean()).isTrue();
    assertThat(json.get("results").findValuesAsText("spark"))
        .containsExactly(spark.name(), spark.name());
  }
}
