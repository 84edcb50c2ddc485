// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.SparkSession;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.local.EmbeddedSpark;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code demo}, {@code get} and {@code explain} in this JVM, on one Spark of two executors with two
 * slots each; {@link CommandClusterIT} has commands that start a Spark of their own.
 */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class CommandsIT {
  private static final int EXECUTORS = 2;
  private static final String INDICES = "0,5,999,499-501,5,333";

  @TempDir private static Path data;
  private static String mixed;
  private static List<String> inFileOrder;
  private static List<String> sorted;
  private static List<String> sortedByEqualKeys;

  private static EmbeddedSpark shared;

  @BeforeAll
  static void write() {
    shared = InProcess.open("commands", EXECUTORS, 2);
    SparkSession spark = shared.session();
    Path directory = data.resolve("mixed data");
    mixed = directory.toString();
    ParquetSamples.writeMixed(spark, directory);
    inFileOrder = ParquetSamples.expected(spark, directory);
    sorted = ParquetSamples.expected(spark, directory, "k", "t");
    sortedByEqualKeys = ParquetSamples.expected(spark, directory, "one");
  }

  @AfterAll
  static void stop() {
    InProcess.close(shared);
  }

  @Test
  void demoReadsTheRowsOfSparkSql() throws IOException {
    Outcome outcome = InProcess.command("demo --ranks 4 --rows 20000 --seconds 0.2 --json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    checkDemo(json, 4, 20_000);
    assertThat(json.get("shares").get("ownProcess").asDouble()).isBetween(0.15, 0.6);
    assertThat(json.get("shares").get("sameHost").asDouble()).isBetween(0.4, 0.85);
  }

  @Test
  @Tag("slow")
  void demoReadsOverTheTransportInReplicaGroups() throws IOException {
    Outcome outcome =
        InProcess.command(
            "demo --width 2 --no-shortcut --transport tcp --rows 5000 --seconds 0.2 " + "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    checkDemo(json, 4, 5000);
    assertThat(json.get("shares").get("remote").asDouble()).isEqualTo(1);
    assertThat(json.get("results").findValues("rows").stream().mapToLong(JsonNode::asLong).sum())
        .as("rows of two copies")
        .isEqualTo(10_000);
  }

  @Test
  void rejectsIllegalTransportOptions() throws IOException {
    Outcome outcome = InProcess.run("demo", "--transport", "pigeon");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err())
        .contains("--transport pigeon: unknown value; legal values: auto, tcp, fabric");
    outcome = InProcess.run("demo", "--seconds", "0");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).contains("--seconds: 0.0 outside (0, 3600]");
  }

  private static void checkDemo(JsonNode json, int ranks, long rows) {
    assertThat(json.fieldNames())
        .toIterable()
        .containsExactly(
            "command",
            "machine",
            "mismatches",
            "results",
            "ranks",
            "executors",
            "rows",
            "bytes",
            "ingestRowsPerSecond",
            "singleMicrosPerRow",
            "batchMicrosPerRow",
            "rowsRead",
            "shares",
            "digest");
    assertThat(json.get("command").asText()).isEqualTo("demo");
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("ranks").asInt()).isEqualTo(ranks);
    assertThat(json.get("executors").asInt()).isEqualTo(Math.min(EXECUTORS, ranks));
    assertThat(json.get("rows").asLong()).isEqualTo(rows);
    assertThat(json.get("rowsRead").asLong()).isGreaterThanOrEqualTo(rows);
    assertThat(json.get("bytes").asLong()).isPositive();
    assertThat(json.get("ingestRowsPerSecond").asLong()).isPositive();
    assertThat(json.get("singleMicrosPerRow").asDouble()).isPositive();
    assertThat(json.get("batchMicrosPerRow").asDouble()).isPositive();
    assertThat(json.get("digest").asText()).matches("[0-9a-f]{32}");
    assertThat(json.get("results")).hasSize(ranks);
  }

  @Test
  @Tag("slow")
  void demoDigestIsIndependentOfTheNumberOfRanks() throws IOException {
    List<String> digests = new ArrayList<>();
    for (int ranks : new int[] {1, 3}) {
      Outcome outcome =
          InProcess.command(
              "demo --input %s --type %s --ranks %s --order-by one,k --seconds 0.2 --json",
              mixed, ParquetSamples.MATRIX, ranks);
      assertThat(outcome.exitCode()).as(outcome.err()).isZero();
      checkDemo(outcome.json(), ranks, ParquetSamples.ROWS);
      digests.add(outcome.json().get("digest").asText());
    }
    assertThat(digests.get(0)).isEqualTo(digests.get(1));
  }

  @Test
  void demoPrintsReadableText() throws IOException {
    Outcome outcome =
        InProcess.command(
            "demo --input %s --fields a,t --ranks 2 --backing file --seconds 0.2", mixed);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .containsPattern("(?m)^a\\.c\\.d +string")
        .contains("0 mismatches in", "same host", "Next ")
        .doesNotContainPattern("(?m)^raw ");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void getPrintsTheSameRowsForEveryNumberOfRanks(int ranks) throws IOException {
    checkRows(inFileOrder, "--ranks", "" + ranks);
  }

  @Test
  void getAppliesTheOrder() throws IOException {
    checkRows(sorted, "--order-by", "k,t");
  }

  @Test
  @Tag("slow")
  void getKeepsTheOrderOfEqualKeys() throws IOException {
    checkRows(sortedByEqualKeys, "--order-by", "one", "--ranks", "3");
  }

  private void checkRows(List<String> expected, String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "get", "--input", mixed, "--indices", INDICES, "--type", ParquetSamples.MATRIX));
    arguments.add("--json");
    arguments.addAll(List.of(more));
    Outcome outcome = InProcess.run(arguments.toArray(new String[0]));

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode rows = outcome.json().get("rows");
    List<Long> indices = IndexRanges.parse(INDICES).indices();
    assertThat(rows).hasSize(indices.size());
    for (int i = 0; i < indices.size(); i++) {
      assertThat(rows.get(i).get("index").asLong()).isEqualTo(indices.get(i));
      assertThat(fields(rows.get(i).get("record")))
          .isEqualTo(fields(new ObjectMapper().readTree(expected.get(indices.get(i).intValue()))));
    }
  }

  private static Map<String, JsonNode> fields(JsonNode record) {
    Map<String, JsonNode> fields = new TreeMap<>();
    record.fieldNames().forEachRemaining(name -> fields.put(name, record.get(name)));
    return fields;
  }

  @Test
  void getNamesTheLegalRange() throws IOException {
    Outcome outcome =
        InProcess.command("get --input %s --indices 0,1000 --fields id --json", mixed);

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.out()).isEmpty();
    assertError(outcome, "ddstore: index 1000 outside [0, 1000) of " + mixed);
  }

  @Test
  void getListsTheFields() throws IOException {
    Outcome outcome = InProcess.command("get --input %s --indices 0 --fields id,zz", mixed);

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertError(
        outcome, "ddstore: column \"zz\": no such column: choose one of [id, k, one, x, y, t,");
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "demo", "explain"})
  void namesTheMissingPath(String command) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(command, "--input", "/no/such/place"));
    if (command.equals("get")) {
      arguments.addAll(List.of("--indices", "0"));
    }
    Outcome outcome = InProcess.run(arguments.toArray(new String[0]));

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertError(outcome, "ddstore: --input /no/such/place: no such file or directory");
  }

  @Test
  void namesTheColumnAndRowOfANull() throws IOException {
    Path nulls = data.resolve("nulls");
    shared
        .session()
        .range(100)
        .selectExpr("id", "if(id in (37, 57), null, id) as n")
        .coalesce(1)
        .write()
        .parquet(nulls.toString());
    Outcome outcome = InProcess.run("demo", "--input", nulls.toString(), "--ranks", "2");

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertError(outcome, "ddstore: column \"n\", row 37: null; set a value with --fill-nulls n=");
    assertThat(outcome.err()).doesNotContain("--type");
  }

  /** One line of ours, and no stack. */
  static void assertError(Outcome outcome, String expected) {
    assertThat(outcome.err().lines().filter(line -> line.startsWith("ddstore:")))
        .singleElement()
        .asString()
        .startsWith(expected);
    assertThat(outcome.err()).doesNotContain("\tat ", "Exception");
  }

  @Test
  void explainBalancesEqualKeys() throws IOException {
    Outcome outcome =
        InProcess.command(
            "explain --input %s --type %s --order-by one --ranks 3 --json",
            mixed, ParquetSamples.MATRIX);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("results")).hasSize(3);
    for (JsonNode rank : json.get("results")) {
      assertThat(rank.get("rows").asLong()).isBetween(333L, 334L);
    }
    assertThat(json.get("paths")).hasSize(9);
    assertThat(json.get("rows").asLong()).isEqualTo(ParquetSamples.ROWS);
  }

  @Test
  void explainPrintsReadableText() throws IOException {
    Outcome outcome = InProcess.command("explain --input %s --fields x,t --ranks 2", mixed);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .containsPattern("(?m)^x +float64")
        .contains("1,000 rows", "locked memory", "0 o s", "1 s o")
        .contains("o = own process: ", "s = same host: ")
        .containsPattern(
            "Ranks 0, 1: device: none[^;]*; batches of loaders: (pinned by|not pinned:) \\S");
  }

  @Test
  void explainKnowsTheBacking() throws IOException {
    Outcome outcome =
        InProcess.command("explain --input %s --fields x --ranks 2 --backing direct", mixed);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out()).contains("0 o r", "1 r o", "r = remote: ");
  }
}
