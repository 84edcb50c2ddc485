// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
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
          .hasSize(2 * 3 * 3)
          .containsEntry("train_rank0_own_process_rows", 5L)
          .containsEntry("train_rank1_own_process_rows", 5L);
      store.drop();
      assertThat(DriverPages.scrape(session)).isEmpty();
    }
  }
}
