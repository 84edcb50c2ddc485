// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.ddstore.types.ReadPath.OWN_PROCESS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.monitor.MonitorView;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.monitor.StatisticsJson;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.StoreStatistics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Metrics where driver and ranks are one JVM: the ranks count there by themselves. */
@Timeout(120)
class LocalMetricsTest {
  @Test
  void countsTheReadsOfARankOnce() throws IOException {
    TestCluster.stopOthers();
    SparkSession.Builder builder =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1");
    DriverPages.SETTINGS.forEach(builder::config);
    try (SparkSession session = builder.getOrCreate()) {
      ResidentStore store = DDStores.from(session.range(100).toDF()).ranks(2).load("train");
      store.run(
          context -> {
            try (Reader reader = context.rows().reader();
                Batch batch = reader.getBatch(LongStream.range(0, 5).toArray())) {
              return batch.rows();
            }
          });
      Map<String, Long> values = DriverPages.scrape(session);
      assertThat(values)
          .hasSize(2 * (3 * 3 + 3 + 5))
          .containsEntry("train_rank0_own_process_rows", 5L)
          .containsEntry("train_rank1_own_process_rows", 5L);
      StoreStatistics now = store.statistics();
      assertThat(now.executors())
          .singleElement()
          .satisfies(
              executor -> {
                assertThat(executor.executorId()).isEqualTo("driver");
                assertThat(executor.ranks()).containsExactly(0, 1);
                assertThat(executor.rows()).isEqualTo(100);
                assertThat(executor.bytes()).isEqualTo(store.bytes()).isEqualTo(now.bytes());
                assertThat(executor.readers())
                    .extracting(ReaderStatistics::reader)
                    .containsExactly("rank0", "rank1");
                assertThat(executor.readers())
                    .allMatch(
                        reader ->
                            reader.reads().get(0).equals(new ReadCount(OWN_PROCESS, 1, 5, 40)));
              });
      JsonNode json = new ObjectMapper().readTree(StatisticsJson.of(now));
      assertThat(json.fieldNames())
          .toIterable()
          .containsExactlyElementsOf(
              Stream.of(StoreStatistics.class.getRecordComponents())
                  .map(RecordComponent::getName)
                  .toList());
      assertThat(json.at("/executors/0/readers/1/reads/0"))
          .hasToString("{\"path\":\"own_process\",\"calls\":1,\"rows\":5,\"bytes\":40}");
      MonitorView view = ResidentStores.monitor(session.sparkContext());
      assertThat(view.stores()).containsExactly(now);
      await("the first sample of the monitor")
          .atMost(Duration.ofSeconds(30))
          .until(() -> !view.samples("train").isEmpty());
      store.reports().sample();
      assertThat(view.samples("train"))
          .last()
          .extracting(ReadSample::calls, ReadSample::rows, ReadSample::bytes)
          .containsExactly(List.of(2L, 0L, 0L), List.of(10L, 0L, 0L), List.of(80L, 0L, 0L));
      store.drop();
      assertThat(view.stores()).isEmpty();
      await("the monitor ends with the last store")
          .atMost(Duration.ofSeconds(5))
          .untilAsserted(() -> assertThat(Leftovers.ofThisProcess().threads()).isEmpty());
      assertThat(DriverPages.scrape(session)).isEmpty();
    }
  }
}
