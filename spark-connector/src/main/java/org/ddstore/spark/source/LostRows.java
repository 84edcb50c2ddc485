// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;

/** Errors of queries that read rows lost with an executor: the rows, the store and the remedy. */
final class LostRows {
  private static final String REMEDY =
      "DDStores.open(spark, \"%s\").repair() restores them, as does its next run; then repeat the"
          + " query";

  private static final String UNANSWERED =
      "if an executor or its host does not respond, DDStores.open(spark, \"%s\").repair() restores"
          + " its rows once Spark has removed it, and a store with replica groups (width) continues"
          + " with another copy; "
          + OptionKeys.SETTING_READ_TIMEOUT
          + " sets the wait";

  private LostRows() {}

  /**
   * Throws if some rows have no copy left, so that a query fails before its tasks start.
   *
   * @param shards shards of all replica groups
   */
  static void refuse(String store, RowRanges rows, List<ResidentShard> shards) {
    for (List<ResidentShard> copies : byFirstRow(shards).values()) {
      ResidentShard shard = copies.get(0);
      RowRanges all = RowRanges.between(shard.firstRow(), shard.firstRow() + shard.rows());
      if (copies.stream().allMatch(ResidentShard::isLost) && rows.and(all).size() > 0) {
        throw new RankLostException(
            shard.rank(),
            "rows [%d, %d) of store \"%s\" were lost with executor %s: %s"
                .formatted(
                    shard.firstRow(),
                    shard.firstRow() + shard.rows(),
                    store,
                    copies.stream()
                        .map(ResidentShard::executorId)
                        .distinct()
                        .collect(Collectors.joining(", ")),
                    REMEDY.formatted(store)));
      }
    }
  }

  /** Returns the copies of each nonempty shard, in row order. */
  static Map<Long, List<ResidentShard>> byFirstRow(List<ResidentShard> shards) {
    return shards.stream()
        .filter(shard -> shard.rows() > 0)
        .collect(Collectors.groupingBy(ResidentShard::firstRow, TreeMap::new, Collectors.toList()));
  }

  /**
   * Returns a failure of a task with the name of the store and a remedy; keeps the exception type
   * if a rank was lost or a deadline exceeded.
   */
  static DDStoreException met(String store, DDStoreException failure) {
    String text =
        "store \"%s\": %s. If it was dropped or overwritten, read it again"
            .formatted(store, failure.getMessage());
    if (failure instanceof RankLostException lost) {
      RankLostException named =
          new RankLostException(
              lost.rank(), text + "; if an executor was lost, " + REMEDY.formatted(store));
      named.initCause(failure);
      return named;
    }
    if (failure instanceof DeadlineExceededException) {
      DeadlineExceededException named =
          new DeadlineExceededException(text + "; " + UNANSWERED.formatted(store));
      named.initCause(failure);
      return named;
    }
    return new DDStoreException(text, failure);
  }
}
