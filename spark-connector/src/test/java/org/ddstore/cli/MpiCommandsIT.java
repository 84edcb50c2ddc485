package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.SparkSession;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.mpi.NeedsMpi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands with {@code --transport mpi}, as a user runs them. */
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
    String[] arguments = {
      "demo",
      "--transport",
      "mpi",
      "--executors",
      "4",
      "--ranks",
      "4",
      "--rows",
      "" + ROWS,
      "--json"
    };
    String[] all = new String[arguments.length + more.length];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    System.arraycopy(more, 0, all, arguments.length, more.length);
    Outcome outcome = launcher.run(all);
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
      JsonNode mpi = null;
      for (JsonNode transport : executor.get("transports")) {
        mpi = transport.get("name").asText().equals("mpi") ? transport : mpi;
      }
      assertThat(mpi).as("mpi in %s", executor).isNotNull();
      assertThat(mpi.get("available").asBoolean()).as("%s", mpi).isTrue();
      assertThat(mpi.get("detail").asText()).startsWith("Open MPI 4");
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

  @Test
  void benchReadStandsBesidePlainMpi() throws Exception {
    Outcome outcome =
        launcher.run(
            "bench",
            "read",
            "--transport",
            "mpi",
            "--no-shortcut",
            "--row-bytes",
            "256,3000",
            "--batch",
            "16",
            "--in-flight",
            "1",
            "--shard-mb",
            "4",
            "--seconds",
            "0.1",
            "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("transport").asText()).startsWith("mpi, Open MPI 4");
      assertThat(result.get("path").asText()).isEqualTo("remote");
      assertThat(result.get("microsPerRow").asDouble()).isPositive();
    }
    JsonNode plain = json.get("plainMpiMicrosPerRow");
    assertThat(plain.fieldNames()).toIterable().containsExactly("256", "3000");
    assertThat(plain.get("256").asDouble()).isPositive();
  }
}
