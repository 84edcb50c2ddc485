package org.ddstore.spark.source;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;

/** What queries say of rows that went with an executor: which, of what store, and the remedy. */
final class LostRows {
  private static final String REMEDY =
      "DDStores.open(spark, \"%s\").repair() brings them back, as the next run of it does; then run"
          + " the query again";

  private static final String UNANSWERED =
      "if an executor or its host does not answer, DDStores.open(spark, \"%s\").repair() brings its rows"
          + " back once Spark has given it up, and a store with replica groups (width) goes on with"
          + " another copy; spark.ddstore.readTimeout is how long is waited";

  private LostRows() {}

  /**
   * Fails if some rows are nowhere any more, so that a query ends before its tasks look for them.
   *
   * @param store its name
   * @param shards of all replica groups
   */
  static void refuse(String store, RowRanges rows, List<ResidentShard> shards) {
    for (List<ResidentShard> copies : byFirstRow(shards).values()) {
      ResidentShard shard = copies.get(0);
      RowRanges all = RowRanges.between(shard.firstRow(), shard.firstRow() + shard.rows());
      if (copies.stream().allMatch(ResidentShard::isLost) && rows.and(all).size() > 0) {
        throw new RankLostException(
            shard.rank(),
            "rows [%d, %d) of store \"%s\" went with executor %s: %s"
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

  /** The copies of each shard that has rows, in the order of the rows. */
  static Map<Long, List<ResidentShard>> byFirstRow(List<ResidentShard> shards) {
    return shards.stream()
        .filter(shard -> shard.rows() > 0)
        .collect(Collectors.groupingBy(ResidentShard::firstRow, TreeMap::new, Collectors.toList()));
  }

  /**
   * A failure that a task has met, with the store and what may help; of the same kind if rows are
   * lost or do not come.
   *
   * @param store its name
   */
  static DDStoreException met(String store, DDStoreException failure) {
    String text =
        "store \"%s\": %s. If it was dropped or overwritten, read it anew"
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
