// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bench python} in this JVM, on a Spark of its own. */
@Tag("system")
@Tag("slow")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class BenchPythonIT {
  private static final Path LIBRARY =
      Path.of(System.getProperty("ddstore.root"), "native/target/c/libddstore_reader.so.1");

  @TempDir private Path folder;

  @BeforeAll
  static void findLibrary() {
    Needed.check("libddstore_reader", Files.exists(LIBRARY), () -> LIBRARY + " was not built");
  }

  @Test
  void measuresAllWaysAndChecksTheirRows() throws IOException {
    Outcome outcome =
        InProcess.command("bench python --rows 5000 --batch 96 --rounds 1 --seconds 0.01 --json");

    Needed.check("NumPy", !outcome.err().contains("name an interpreter with NumPy"), outcome::err);
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    String missing = json.get("missing").toString();
    Needed.check("PyTorch", !missing.contains("PyTorch"), () -> missing);
    assertThat(json.get("versions").fieldNames())
        .toIterable()
        .contains("Python", "NumPy", "PyTorch");
    List<String> ways =
        Stream.of(PythonWay.values())
            .filter(way -> way.module() == null || !json.get("missing").has(way.module()))
            .map(PythonWay::toString)
            .toList();
    assertThat(json.get("results").findValuesAsText("way")).isEqualTo(ways);
    for (JsonNode result : json.get("results")) {
      String way = result.get("way").asText();
      assertThat(result.get("rows").asInt()).as(way).isEqualTo(way.endsWith("_row") ? 1 : 96);
      double micros = result.get("microsPerRow").asDouble();
      assertThat(micros).as(way).isPositive();
      assertThat(result.get("leastMicrosPerRow").asDouble()).as(way).isEqualTo(micros);
      double ratio = result.get("ratioToJava").asDouble();
      if (way.startsWith("java")) {
        assertThat(ratio).as(way).isEqualTo(1);
      } else {
        assertThat(ratio).as(way).isPositive();
      }
      double toPython = result.path("ratioToPython").asDouble();
      assertThat(json.get("faster").toString().contains("\"" + way + "\""))
          .as(way)
          .isEqualTo(toPython > 0 && toPython < 1);
    }
  }

  @Test
  void namesAnInterpreterThatCannotBeStarted() throws IOException {
    Outcome outcome =
        InProcess.command("bench python --rows 100 --python %s", folder.resolve("python"));

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err())
        .contains("--python " + folder.resolve("python"), "No such file or directory");
  }
}
