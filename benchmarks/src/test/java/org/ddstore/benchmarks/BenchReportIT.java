// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.benchmarks.report.Report;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.spark.Browser;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bench}, which writes a report, with its shortest part, and {@code bench compare}. */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class BenchReportIT {
  private static final String HOSTILE = "</script><img src=x onerror=\"document.title='bad'\">";

  @TempDir private Path work;

  @Test
  void writesAReportThatABrowserDraws() throws Exception {
    Outcome outcome =
        InProcess.run("bench", "--quick", "--only", "replay", "--out", work.toString(), "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.err()).contains("replay: ", " s left");
    JsonNode json = outcome.json();
    assertThat(json.get("machine").get("cores").asInt()).isPositive();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("peers").isObject()).isTrue();
    assertThat(json.get("parts").get(0).get("command").asText())
        .startsWith("./ddstore bench read ");
    assertThat(json.get("figures")).isNotEmpty();
    for (JsonNode figure : json.get("figures")) {
      assertThat(figure.get("ratios")).hasSameSizeAs(figure.get("samples"));
      assertThat(figure.get("median").asDouble()).isPositive();
    }
    String html = Files.readString(work.resolve("report.html"));
    assertThat(html).doesNotContainPattern("(src|href)=\"?http");
    try (Browser browser =
        Browser.open(work.resolve("browser"), work.resolve("report.html").toUri().toString())) {
      browser.await("document.querySelectorAll('.bar').length > 0");
      assertThat(browser.value("document.querySelectorAll('.ours .bar').length").asInt())
          .isEqualTo(json.get("figures").size() / 2);
    }
  }

  /** Names of peers and their settings are given by the user. */
  @Test
  @Tag("slow")
  void escapesNamesInThePage() throws Exception {
    Report report = new Report("quick", Map.of("cpu", HOSTILE, "memoryBytes", 1));
    Figure figure =
        Figure.of("peers", HOSTILE, HOSTILE, "µs/row", 1, 2).with(Map.of(HOSTILE, HOSTILE));
    JsonNode part = new ObjectMapper().valueToTree(Map.of("figures", List.of(figure)));
    report.add("peers", "peers", 1, part);
    Path page = Files.writeString(work.resolve("hostile.html"), report.html());

    try (Browser browser = Browser.open(work.resolve("browser"), page.toUri().toString())) {
      browser.await("document.querySelectorAll('.bar').length === 1");
      assertThat(browser.value("document.title").asText()).isEqualTo("DDStore: figures");
      assertThat(browser.value("document.querySelector('.name').textContent").asText())
          .isEqualTo(HOSTILE);
    }
  }

  @Test
  void compareFindsWhatHasChanged() throws IOException {
    Path old = work.resolve("old.json");
    Path recent = work.resolve("new.json");
    Files.writeString(old, report(1, "same", "slower", "gone").toString());
    Files.writeString(recent, report(2, "same", "slower", "new").toString());

    JsonNode json =
        InProcess.run("bench", "compare", old.toString(), recent.toString(), "--json").json();

    assertThat(json.get("compared").asInt()).isEqualTo(2);
    assertThat(json.get("results").findValuesAsText("figure"))
        .containsExactly("section, slower, ddstore, warm");
    assertThat(json.get("results").get(0).get("change").asDouble()).isEqualTo(1);
    assertThat(json.get("onlyOld")).hasSize(1);
    assertThat(json.get("onlyNew")).hasSize(1);
    Files.writeString(recent, "{}");
    Outcome refused = InProcess.run("bench", "compare", old.toString(), recent.toString());
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains(recent + " is not a report: it has no figures");
    refused = InProcess.run("bench", "compare", old.toString(), work.resolve("none").toString());
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains(work.resolve("none").toString());
  }

  /** Returns a report in which all but the subject "same" take {@code factor} times as long. */
  private static ObjectNode report(int factor, String... subjects) {
    ObjectMapper mapper = new ObjectMapper();
    ArrayNode figures = mapper.createArrayNode();
    for (String subject : subjects) {
      double[] samples = new double[12];
      Arrays.setAll(samples, i -> (subject.equals("same") ? 1 : factor) * (1 + 0.01 * i));
      figures.add(mapper.valueToTree(Figure.of("section", subject, "ddstore", "µs", samples)));
    }
    return mapper.createObjectNode().set("figures", figures);
  }

  @Test
  void refusesUnknownParts() throws IOException {
    Outcome refused = InProcess.run("bench", "--only", "reed");

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("--only reed: unknown part; legal values: read-memory, ");
  }
}
