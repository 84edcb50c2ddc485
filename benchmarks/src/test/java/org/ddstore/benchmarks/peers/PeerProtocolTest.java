// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bench peers --peer} with programs of the shell, without Spark. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PeerProtocolTest {
  private static final int ROWS = 100;

  @TempDir private Path folder;

  /** Writes a program that says {@code hello} and then does {@code turn} for each request. */
  private String program(String name, String hello, String turn) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve(name + ".sh"),
            "echo '%s'\nwhile read -r request; do\n%s\ndone\n".formatted(hello, turn));
    return "%s=sh '%s'".formatted(name, file);
  }

  private static String hello(String cases) {
    return "{\"version\": \"1.2\", \"settings\": {\"cache\": \"none\"}, \"cases\": [%s]}"
        .formatted(cases);
  }

  private static String echo(String reply) {
    return "echo '" + reply + "'";
  }

  private static Outcome run(String... peers) throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                "bench",
                "peers",
                "--only",
                "none",
                "--rows",
                "" + ROWS,
                "--rounds",
                "2",
                "--json"));
    words.addAll(List.of("--patience", "5"));
    for (String peer : peers) {
      words.addAll(List.of("--peer", peer));
    }
    return InProcess.run(words.toArray(String[]::new));
  }

  private static JsonNode figure(JsonNode json, String section, String way) {
    for (JsonNode figure : json.get("figures")) {
      if (figure.get("section").asText().equals("peers/" + section)
          && figure.get("way").asText().equals(way)) {
        return figure;
      }
    }
    throw new AssertionError("no figure " + section + " of " + way + " in " + json);
  }

  @Test
  void measuresAForeignProgram() throws IOException {
    String seen = folder.resolve("seen").toString();
    Outcome outcome =
        run(
            program(
                "mine",
                hello("\"batch\", \"epoch\", \"start\", \"memory\", \"other\""),
                "printf '%s\\n' \"$request\" >> '"
                    + seen
                    + "'\n"
                    + "case $request in\n"
                    + "*start*) echo '{\"openUs\": 1500, \"firstBatchUs\": 500, \"mismatches\": 0}';;\n"
                    + "*memory*) echo '{\"bytes\": 1048576, \"mismatches\": 0}';;\n"
                    + "*) echo '{\"microsPerRow\": 0.25, \"mismatches\": 0, \"digest\": \""
                    + PeerRows.digest(ROWS)
                    + "\"}';;\nesac"));

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.at("/peers/mine/version").asText()).isEqualTo("1.2");
    JsonNode batch = figure(json, "batch", "mine");
    assertThat(batch.get("samples").toString()).isEqualTo("[0.25,0.25]");
    assertThat(batch.get("unit").asText()).isEqualTo("µs/row");
    assertThat(batch.at("/settings/cache").asText()).isEqualTo("none");
    assertThat(batch.get("ratios").isNull()).isTrue();
    assertThat(figure(json, "epoch", "mine").get("mismatches").asLong()).isZero();
    assertThat(figure(json, "start", "mine").get("samples").toString()).isEqualTo("[2.0,2.0]");
    assertThat(figure(json, "memory", "mine").get("samples").toString()).isEqualTo("[1.0]");
    assertThat(Files.readString(Path.of(seen)).lines())
        .startsWith("{\"case\":\"batch\",\"seconds\":0.3}")
        .contains("{\"case\":\"memory\",\"seconds\":0.3,\"workers\":8}");
  }

  @Test
  void countsWrongRowsAndAWrongDigest() throws IOException {
    String wrong = "{\"microsPerRow\": 1, \"mismatches\": 2, \"digest\": \"0\"}";
    String doubled = "{\"microsPerRow\": 1, \"mismatches\": 0, \"digest\": \"0\"}";
    Outcome outcome =
        run(
            program("wrong", hello("\"batch\""), echo(wrong)),
            program("doubled", hello("\"epoch\""), echo(doubled)));

    assertThat(outcome.exitCode()).isEqualTo(1);
    JsonNode json = outcome.json();
    assertThat(figure(json, "batch", "wrong").get("mismatches").asLong()).isEqualTo(6);
    assertThat(figure(json, "epoch", "doubled").get("mismatches").asLong()).isEqualTo(3);
    assertThat(json.get("mismatches").asLong()).isEqualTo(9);
    assertThat(json.get("failed")).isEmpty();
  }

  @Test
  void leavesOutProgramsThatFail() throws IOException {
    String good = "{\"microsPerRow\": 1, \"mismatches\": 0}";
    Outcome outcome =
        run(
            program("good", hello("\"batch\""), echo(good)),
            program("text", hello("\"batch\""), echo("done")),
            program("zero", hello("\"batch\""), echo("{\"microsPerRow\": 0, \"mismatches\": 0}")),
            program("hello", "{\"cases\": [\"read\"]}", echo(good)),
            program("early", hello("\"batch\""), "echo 'no memory' >&2; exit 3"),
            program(
                "erring",
                hello("\"single\", \"batch\""),
                "case $request in *single*) echo '{\"error\": \"no such row\"}';; *) "
                    + echo(good)
                    + ";; esac"),
            "absent=/nonexistent/program");

    assertThat(outcome.exitCode()).isEqualTo(1);
    JsonNode json = outcome.json();
    assertThat(json.at("/failed/text").asText()).isEqualTo("text: no JSON in the line done");
    assertThat(json.at("/failed/zero").asText())
        .contains("\"microsPerRow\" must be a number above 0 in the line {");
    assertThat(json.at("/failed/hello").asText()).contains("no known \"cases\"");
    assertThat(json.at("/failed/early").asText())
        .isEqualTo("early: ended early with status 3: no memory");
    assertThat(json.at("/failed/erring").asText()).isEqualTo("erring: single: no such row");
    assertThat(json.at("/failed/absent").asText())
        .startsWith("absent: ended early with status 127: ");
    assertThat(figure(json, "batch", "good").get("samples")).hasSize(2);
    assertThat(figure(json, "batch", "erring").get("samples")).hasSize(2);
    assertThat(json.get("figures")).hasSize(2);
  }

  @Test
  void killsAProgramThatHangs() throws IOException {
    Outcome outcome =
        InProcess.run(
            "bench",
            "peers",
            "--only",
            "none",
            "--rows",
            "10",
            "--patience",
            "0.5",
            "--json",
            "--peer",
            program("hangs", hello("\"batch\""), "sleep 1000"));

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.json().at("/failed/hangs").asText())
        .isEqualTo("hangs: no answer within 0.5 s; it was killed");
  }

  @Test
  void refusesNamesThatAreTaken() throws IOException {
    Outcome outcome = InProcess.run("bench", "peers", "--peer", "lance=true");

    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).contains("--peer lance: give a name of letters");
  }
}
