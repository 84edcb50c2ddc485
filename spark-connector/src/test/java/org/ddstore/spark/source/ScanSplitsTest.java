// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.ddstore.spark.types.ResidentShard;
import org.junit.jupiter.api.Test;

/** The division of the rows of a scan into tasks. */
class ScanSplitsTest {
  private static final int SHARD_ROWS = 1_000_000;

  private static ResidentShard shard(int rank, String executor, boolean isLost) {
    return new ResidentShard(
        rank, 0, (long) rank * SHARD_ROWS, SHARD_ROWS, 0, "", executor, "host", isLost);
  }

  private static List<ResidentShard> shards() {
    return List.of(shard(0, "a", false), shard(1, "b", false));
  }

  private static List<RowsPartition> split(
      double bytesPerRow, int cores, RowRanges rows, List<ResidentShard> shards) {
    InputPartition[] parts = new ScanSplits(bytesPerRow, cores).of(rows, shards);
    return Arrays.stream(parts).map(RowsPartition.class::cast).toList();
  }

  private static RowRanges together(List<RowsPartition> parts) {
    RowRanges all = RowRanges.NONE;
    long rows = 0;
    for (RowsPartition part : parts) {
      all = all.or(part.rows());
      rows += part.rows().rows();
    }
    assertThat(rows).as("no row twice").isEqualTo(all.rows());
    return all;
  }

  @Test
  void prefersTheExecutorOfEachShard() {
    RowRanges all = RowRanges.between(0, 2L * SHARD_ROWS);
    List<RowsPartition> parts = split(100, 2, all, shards());
    assertThat(parts).hasSize(2);
    assertThat(together(parts)).isEqualTo(all);
    assertThat(parts.get(0).preferredLocations()).containsExactly("executor_host_a");
    assertThat(parts.get(1).preferredLocations()).containsExactly("executor_host_b");
  }

  @Test
  void usesAllCoresAndLimitsTheBytesOfATask() {
    RowRanges all = RowRanges.between(0, 2L * SHARD_ROWS);
    List<RowsPartition> parts = split(100, 8, all, shards());
    assertThat(parts).hasSize(8);
    assertThat(together(parts)).isEqualTo(all);
    parts = split(1000, 2, all, shards());
    assertThat(together(parts)).isEqualTo(all);
    assertThat(parts)
        .hasSizeGreaterThan(6)
        .allMatch(part -> part.rows().rows() * 1000 <= 1.2 * ScanSplits.MAX_BYTES);
  }

  @Test
  void readsFewRowsInOneTaskAtTheLargestShare() {
    List<RowsPartition> parts =
        split(100, 8, RowRanges.of(5, SHARD_ROWS + 1, SHARD_ROWS + 70, 99_999_999), shards());
    assertThat(parts).hasSize(1);
    assertThat(parts.get(0).rows()).isEqualTo(RowRanges.of(5, SHARD_ROWS + 1, SHARD_ROWS + 70));
    assertThat(parts.get(0).preferredLocations()).containsExactly("executor_host_b");
    assertThat(split(100, 8, RowRanges.NONE, shards())).isEmpty();
  }

  @Test
  void prefersEveryReplicaThatIsNotLost() {
    List<ResidentShard> copies = new ArrayList<>(shards());
    copies.add(shard(0, "c", false));
    copies.add(shard(1, "d", true));
    RowRanges all = RowRanges.between(0, 2L * SHARD_ROWS);
    List<RowsPartition> parts = split(100, 2, all, copies);
    assertThat(together(parts)).isEqualTo(all);
    assertThat(parts.get(0).preferredLocations())
        .containsExactly("executor_host_a", "executor_host_c");
    assertThat(parts.get(1).preferredLocations()).containsExactly("executor_host_b");
  }
}
