// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Prometheus metrics of stores on the driver, with 2 executors of 2 slots each. */
@Tag("system")
@Timeout(300)
class DriverMetricsTest extends OnTestCluster {
  @BeforeAll
  static void start() {
    cluster = TestCluster.shared(2, 2, Map.of());
  }

  @AfterEach
  void assertNothingHeld() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingHeld();
  }

  private static Map<String, Long> scrape() {
    return DriverPages.scrape(cluster.session());
  }

  /** Rank r reads 3 + r rows of each rank. */
  private static void readRows(ResidentStore store) {
    store.run(
        context -> {
          int half = 3 + context.rank();
          long[] rows =
              LongStream.concat(LongStream.range(0, half), LongStream.range(ROWS - half, ROWS))
                  .toArray();
          try (Reader reader = context.rows().reader();
              Batch batch = reader.getBatch(rows)) {
            return batch.rows();
          }
        });
  }

  /** As the page has to have them. */
  private static Map<String, Long> readsOf(ResidentStore store) {
    Map<String, Long> expected = new TreeMap<>();
    List<List<ReadCount>> reads = store.reads();
    for (int rank = 0; rank < reads.size(); rank++) {
      for (ReadCount count : reads.get(rank)) {
        String prefix =
            "%s_rank%d_%s_"
                .formatted(store.name(), rank, count.path().name().toLowerCase(Locale.ROOT));
        expected.put(prefix + "rows", count.rows());
        expected.put(prefix + "bytes", count.bytes());
        expected.put(prefix + "calls", count.calls());
      }
    }
    return expected;
  }

  /** The reads that the executors report, by rank, each in the executor that holds its shard. */
  private static List<List<ReadCount>> byRank(StoreStatistics statistics) {
    Map<Integer, List<ReadCount>> byRank = new TreeMap<>();
    for (ExecutorStatistics executor : statistics.executors()) {
      assertThat(executor.readers())
          .extracting(ReaderStatistics::reader)
          .containsExactlyElementsOf(executor.ranks().stream().map(r -> "rank" + r).toList());
      for (int i = 0; i < executor.readers().size(); i++) {
        byRank.put(executor.ranks().get(i), executor.readers().get(i).reads());
      }
    }
    return List.copyOf(byRank.values());
  }

  private static void assertRead(ResidentStore store, ReadPath path, long... rows) {
    List<List<ReadCount>> reads = store.reads();
    for (int rank = 0; rank < rows.length; rank++) {
      assertThat(reads.get(rank).get(path.index()).rows())
          .as("rows of %s of rank %d by %s", store.name(), rank, path)
          .isEqualTo(rows[rank]);
    }
  }

  @Test
  void driverExportsTheReadsOfRanksToPrometheus() {
    ResidentStore near = DDStores.from(numberedRows()).ranks(2).load("train");
    ResidentStore far = DDStores.from(numberedRows()).ranks(2).shortcut(false).load("train_far");
    assertThat(scrape()).as("before the first run").hasSize(2 * 2 * 3 * 3).containsValue(0L);
    readRows(near);
    readRows(near);
    readRows(far);

    Map<String, Long> expected = readsOf(near);
    expected.putAll(readsOf(far));
    assertRead(near, ReadPath.SAME_HOST, 6, 8);
    assertRead(far, ReadPath.REMOTE, 6, 8);
    assertThat(scrape()).isEqualTo(expected);
    for (ResidentStore store : List.of(near, far)) {
      assertThat(byRank(store.statistics()))
          .as("the executors' own counters")
          .isEqualTo(store.reads());
    }
    assertThat(DriverPages.get(cluster.session(), "/metrics/json/"))
        .as("the page that is always there")
        .contains("\"pages.driver.ddstore.train.rank1.same_host.rows\":{\"value\":8}");

    near.drop();
    assertThat(scrape()).as("when train has been dropped").isEqualTo(readsOf(far));
    far.drop();
    assertThat(scrape()).as("when both have been dropped").isEmpty();
  }

  @Test
  void replacementStartsItsMetricsAtZero() {
    ResidentStore before = DDStores.from(numberedRows()).ranks(2).load("train");
    StoreHandle old = before.handle();
    readRows(before);
    ResidentStore now = DDStores.from(numberedRows()).ranks(1).replace("train");
    try (StoreMetrics.Watch late = StoreMetrics.watch(old.snapshot(), "late", List::of)) {
      assertThat(late).isNotNull();
      assertThat(scrape())
          .as("with a late reader of the one before")
          .isEqualTo(readsOf(now))
          .doesNotContainKey("train_rank1_remote_rows")
          .containsEntry("train_rank0_own_process_rows", 0L);
    }
    assertThat(scrape()).as("when that is closed").isEqualTo(readsOf(now));
    now.drop();
    assertThat(scrape()).isEmpty();
  }

  @Test
  void exportsReadersOfTheDriver() {
    ResidentStore store = DDStores.from(numberedRows()).ranks(2).load("train");
    try (StoreReader attached = store.handle().attach();
        Reader reader = attached.rows().reader();
        Batch batch = reader.getBatch(0, 1, ROWS - 1)) {
      assertThat(batch.rows()).isEqualTo(3);
      assertThat(scrape())
          .containsEntry("train_attached_same_host_rows", 3L)
          .containsEntry("train_attached_same_host_calls", 1L)
          .containsEntry("train_rank0_same_host_rows", 0L);
    }
    assertThat(scrape()).as("when it is closed").containsEntry("train_attached_same_host_rows", 3L);
    store.drop();
    assertThat(scrape()).isEmpty();
  }
}
