// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.ddstore.LatencyHistogram;
import org.ddstore.spark.monitor.MonitorView;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.monitor.StatisticsJson;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.spark.types.StoreGrant;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.Test;

/** What the pages answer for a store with hostile names, and for one of 4,096 ranks. */
class PagesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A name of 255 characters. */
  private static final String HOSTILE =
      ("<script>alert(1)</script>\"'\\\n{}é漢" + "x".repeat(255)).substring(0, 255);

  private static final Pattern METRIC = Pattern.compile("ddstore_[a-z_]+");

  /** A sample of Prometheus: name, labels whose values have no raw quote or new line, value. */
  private static final Pattern SAMPLE =
      Pattern.compile(
          "(ddstore_[a-z_]+)\\{([a-z]+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\",?)+} (-?[0-9.E-]+|NaN)");

  private static StoreStatistics store(String name, int ranks) {
    List<Long> latencies = new ArrayList<>(Collections.nCopies(LatencyHistogram.BUCKETS, 0L));
    latencies.set(3, 7L);
    ReaderStatistics reader =
        new ReaderStatistics(
            "rank0",
            List.of(
                new ReadCount(ReadPath.OWN_PROCESS, 2, 64, 256),
                new ReadCount(ReadPath.SAME_HOST, 0, 0, 0),
                new ReadCount(ReadPath.REMOTE, 0, 0, 0)),
            new LatencyHistogram(latencies),
            new LoaderTimes(10, 750_000_000, 0, 1000, 250_000_000));
    List<ExecutorStatistics> executors =
        IntStream.range(0, ranks)
            .mapToObj(
                rank ->
                    new ExecutorStatistics(
                        "executor " + rank,
                        name,
                        List.of(rank),
                        1,
                        10,
                        100,
                        0,
                        0,
                        rank == 0 ? 5_000 : 0,
                        List.of(reader),
                        List.of(new OutsideStatistics(name, 1, 2, 3, 4))))
            .toList();
    return new StoreStatistics(
        name,
        HOSTILE,
        1_000,
        10L * ranks,
        100L * ranks,
        ranks,
        ranks,
        "shm",
        true,
        "tcp",
        List.of(),
        0,
        3,
        1,
        1_500,
        executors,
        List.of(new StoreGrant(name, Optional.of(Instant.ofEpochMilli(9_000)), false)));
  }

  private static Pages pages(StoreStatistics store) {
    StoreEvent event =
        new StoreEvent(2_000, store.name(), StoreEvent.Kind.LOAD, HOSTILE, 10, 100, 5);
    return new Pages(
        new LiveSource(
            new MonitorView() {
              @Override
              public List<StoreStatistics> stores() {
                return List.of(store);
              }

              @Override
              public List<StoreEvent> events() {
                return List.of(event);
              }

              @Override
              public List<ReadSample> samples(String name) {
                return List.of(
                    new ReadSample(
                        2_000, List.of(1L, 0L, 0L), List.of(2L, 0L, 0L), List.of(3L, 0L, 0L)));
              }
            }));
  }

  private static String get(Pages pages, String path, String name) {
    Answer answer = pages.answer(path, name, content -> "<html>" + content + "</html>");
    assertThat(answer.status()).as(path).isEqualTo(200);
    return answer.body();
  }

  @Test
  void jsonHasHostileNamesAsTheyAreAndThePageHasNone() throws IOException {
    Pages pages = pages(store(HOSTILE, 2));

    JsonNode overview = JSON.readTree(get(pages, "/api/stores", null));
    JsonNode detail = JSON.readTree(get(pages, "/api/store", HOSTILE));

    JsonNode summary = overview.get("stores").get(0);
    assertThat(summary.get("name").asText()).isEqualTo(HOSTILE);
    assertThat(summary.get("owner").asText()).isEqualTo(HOSTILE);
    assertThat(summary.get("executorCount").asInt()).isEqualTo(2);
    assertThat(summary.get("outsideChannels").asInt()).isEqualTo(2);
    assertThat(overview.get("events").get(0).get("text").asText()).isEqualTo(HOSTILE);
    assertThat(detail.at("/store/executors/1/outside/0/label").asText()).isEqualTo(HOSTILE);
    assertThat(detail.at("/samples/0/rows/0").asLong()).isEqualTo(2);
    assertThat(detail.get("events")).hasSize(1);
    assertThat(get(pages, null, null)).isEqualTo(get(pages, "/", HOSTILE)).doesNotContain("alert");
    assertThat(pages.answer("/api/store", "other", content -> content).status()).isEqualTo(404);
    assertThat(pages.answer("/../secret", null, content -> content).status()).isEqualTo(404);
  }

  @Test
  void metricsAreValidForPrometheus() {
    String metrics = get(pages(store(HOSTILE, 2)), "/metrics", null);

    assertThat(metrics.lines().filter(line -> !line.startsWith("#")))
        .isNotEmpty()
        .allMatch(line -> SAMPLE.matcher(line).matches());
    String labels =
        "{store=\"%1$s\",executor=\"executor 0\",host=\"%1$s\""
            .formatted(HOSTILE.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n"));
    String reader = labels + ",reader=\"rank0\"";
    assertThat(metrics)
        .contains(
            "ddstore_read_rows_total" + reader + ",path=\"own_process\"} 64\n",
            "ddstore_read_bytes_total" + reader + ",path=\"own_process\"} 256\n",
            "ddstore_loader_stall_ratio" + reader + "} 0.75\n",
            "ddstore_loader_wait_seconds_total" + reader + "} 0.75\n",
            "ddstore_batch_latency_seconds_bucket" + reader + ",le=\"+Inf\"} 7\n",
            "ddstore_batch_latency_seconds_count" + reader + "} 7\n",
            "ddstore_live_bytes" + labels + "} 100\n",
            "} 1.5\n");
  }

  @Test
  void dashboardAsksForExistingMetrics() throws IOException {
    Pages pages = pages(store("train", 2));
    String metrics = get(pages, "/metrics", null);

    List<String> queries =
        JSON.readTree(get(pages, "/grafana.json", null)).findValuesAsText("expr");

    assertThat(queries).isNotEmpty();
    assertThat(queries)
        .flatExtracting(query -> METRIC.matcher(query).results().map(MatchResult::group).toList())
        .allMatch(name -> metrics.contains("\n" + name + "{"));
  }

  @Test
  void overviewOfManyRanksIsSmall() {
    assertThat(get(pages(store("train", 4_096)), "/api/stores", null)).hasSizeLessThan(10_000);
  }

  @Test
  void eventLogHasSummariesThatFitAndIgnoresBrokenLines() throws IOException {
    String summary = StoreSummary.of(StatisticsJson.node(store(HOSTILE, 4096)));
    StoreLogEvent line = new StoreLogEvent(StoreLogEvent.SUMMARY, summary);
    assertThat(JSON.writeValueAsBytes(line).length).isLessThanOrEqualTo(StoreSummary.LIMIT_BYTES);

    InMemoryStore records = new InMemoryStore();
    StoreLogReader reader = new StoreLogReader(records);
    for (String broken : List.of("", "[]", "{}", "no JSON", "{\"kind\":\"unknown\"}")) {
      reader.onOtherEvent(new StoreLogEvent(StoreLogEvent.SUMMARY, broken));
      reader.onOtherEvent(new StoreLogEvent(StoreLogEvent.EVENT, broken));
      reader.onOtherEvent(new StoreLogEvent(broken, broken));
    }
    assertThat(new LogSource(records).isEmpty()).isTrue();
    reader.onOtherEvent(line);
    Pages pages = new Pages(new LogSource(records));
    JsonNode store = JSON.readTree(get(pages, "/api/stores", null)).get("stores").get(0);
    assertThat(store.get("name").asText()).isEqualTo(HOSTILE);
    assertThat(store.get("executorCount").asInt()).isEqualTo(4096);
  }
}
