package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.mpi.NeedsMpi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code demo}, {@code explain} and {@code doctor} where MPI is, as a user runs them; {@link
 * BenchReadIT} has {@code bench read}.
 */
@Tag("system")
@NeedsMpi
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class MpiCommandsIT {
  private static final int ROWS = 5000;

  @TempDir private Path work;
  private Launcher launcher;

  @BeforeEach
  void makeLauncher() {
    launcher = new Launcher(work);
  }

  private JsonNode demo(String... more) throws Exception {
    Stream<String> common =
        Stream.of("demo", "--transport", "mpi", "--executors", "4", "--ranks", "4");
    Stream<String> size = Stream.of("--rows", "" + ROWS, "--json");
    Stream<String> all = Stream.of(common, size, Stream.of(more)).flatMap(part -> part);
    Outcome outcome = launcher.run(all.toArray(String[]::new));
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results")).hasSize(4);
    assertThat(json.get("rowsRead").asLong()).isGreaterThanOrEqualTo(ROWS);
    return json;
  }

  @Test
  void demoReadsOfOneHostGoByMemory() throws Exception {
    assertThat(demo().get("shares").get("remote").asDouble()).isZero();
  }

  @Test
  void demoReadsEveryRowByMpi() throws Exception {
    assertThat(demo("--no-shortcut").get("shares").get("remote").asDouble()).isEqualTo(1);
  }

  @Test
  void doctorReportsMpiOfEachExecutor() throws Exception {
    Outcome outcome = launcher.run("doctor", "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode results = outcome.json().get("results");
    assertThat(results).hasSize(2);
    for (JsonNode executor : results) {
      assertThat(DoctorIT.detail(executor, "mpi")).startsWith("Open MPI 4");
    }
  }

  @Test
  void explainSaysThatRowsComeByMpi() throws Exception {
    Path data = work.resolve("data");
    SparkSession spark = ParquetSamples.session();
    try {
      ParquetSamples.writeMixed(spark, data);
    } finally {
      spark.stop();
    }
    Outcome outcome =
        launcher.run(
            "explain",
            "--transport",
            "mpi",
            "--no-shortcut",
            "--input",
            data.toString(),
            "--fields",
            "x,t",
            "--executors",
            "2",
            "--ranks",
            "2",
            "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("transport").asText()).startsWith("mpi, Open MPI 4");
    assertThat(json.get("paths")).hasSize(4);
    for (JsonNode path : json.get("paths")) {
      assertThat(path.toString()).containsIgnoringCase("remote");
    }
  }
}
