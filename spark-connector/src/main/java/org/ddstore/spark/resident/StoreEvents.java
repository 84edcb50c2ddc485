// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.monitor.StoreJournal;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;

/**
 * The events of one store, which each method adds to the journal of the application. Used on the
 * driver. Thread-safe.
 *
 * @param store name of the store; empty for a run on rows that are not resident
 */
public record StoreEvents(SparkContext context, String store) {
  /**
   * Records that rows were loaded.
   *
   * @param action what was done, such as {@code loaded}
   * @param startNanos start, of {@link System#nanoTime}
   * @param note end of the text, may be empty
   */
  public void loaded(String action, ResidentLayout layout, long startNanos, String note) {
    record(
        StoreEvent.Kind.LOAD,
        startNanos,
        layout.rows(),
        layout.bytes(),
        "%s %s, %s, on %s in %s (rows of other hosts: %s)%s"
            .formatted(
                action,
                Plural.of(layout.rows(), "row"),
                ByteSize.format(layout.bytes()),
                Plural.of(layout.groups().ranks(), "rank"),
                seconds(startNanos),
                transport(layout),
                note));
    lost(layout.lostSince(null), layout); // with executors that ended during the load
  }

  void appended(ResidentLayout before, ResidentLayout after, long startNanos) {
    long rows = after.rows() - before.rows();
    long bytes = after.bytes() - before.bytes();
    record(
        StoreEvent.Kind.APPEND,
        startNanos,
        rows,
        bytes,
        "appended %s, %s, on %s in %s, %s in all"
            .formatted(
                Plural.of(rows, "row"),
                ByteSize.format(bytes),
                Plural.of(after.groups().ranks(), "rank"),
                seconds(startNanos),
                Plural.of(after.rows(), "row")));
  }

  /**
   * Records that a run on a store has succeeded.
   *
   * @param action what was done, such as {@code run}
   */
  public void ran(
      String action,
      List<? extends RankOutcome<?>> outcomes,
      ResidentLayout layout,
      long startNanos,
      List<String> otherStores) {
    long[] rows = new long[ReadPath.values().length];
    long bytes = 0;
    for (RankOutcome<?> outcome : outcomes) {
      for (ReadCount count : outcome.reads()) {
        rows[count.path().index()] += count.rows();
        bytes += count.bytes();
      }
    }
    long own = rows[ReadPath.OWN_PROCESS.index()];
    long near = rows[ReadPath.SAME_HOST.index()];
    long far = rows[ReadPath.REMOTE.index()];
    record(
        StoreEvent.Kind.RUN,
        startNanos,
        own + near + far,
        bytes,
        "%s on %s in %s read %s, %s (%,d in the own process, %,d on the same host, %,d by %s)%s"
            .formatted(
                action,
                Plural.of(outcomes.size(), "rank"),
                seconds(startNanos),
                Plural.of(own + near + far, "row"),
                ByteSize.format(bytes),
                own,
                near,
                far,
                transport(layout),
                otherStores.isEmpty() ? "" : ", with stores " + otherStores));
  }

  /** Records that a run on rows that are not resident has succeeded. */
  public void ranOn(long rows, long bytes, int ranks, long startNanos) {
    record(
        StoreEvent.Kind.RUN,
        startNanos,
        rows,
        bytes,
        "loaded %s, %s, and ran on %s in %s"
            .formatted(
                Plural.of(rows, "row"),
                ByteSize.format(bytes),
                Plural.of(ranks, "rank"),
                seconds(startNanos)));
  }

  /** Records that ranks in Python are about to start; their end is unknown here. */
  public void starts(ResidentLayout layout) {
    record(
        StoreEvent.Kind.RUN,
        System.nanoTime(),
        0,
        0,
        "starts a run of %s in Python".formatted(Plural.of(layout.groups().ranks(), "rank")));
  }

  /** Records the loss of shards, if any. */
  void lost(List<ShardReport> shards, ResidentLayout after) {
    if (shards.isEmpty()) {
      return;
    }
    record(
        StoreEvent.Kind.LOSS,
        System.nanoTime(),
        rows(shards),
        bytes(shards),
        "lost %s with executors %s; %s without a copy"
            .formatted(text(shards), executors(shards), Plural.of(after.unreadableRows(), "row")));
  }

  void repaired(List<ShardReport> shards, long startNanos) {
    record(
        StoreEvent.Kind.REPAIR,
        startNanos,
        rows(shards),
        bytes(shards),
        "restored %s in %s, on executors %s"
            .formatted(text(shards), seconds(startNanos), executors(shards)));
  }

  public void dropped(ResidentLayout layout, long startNanos) {
    record(
        StoreEvent.Kind.DROP,
        startNanos,
        layout.rows(),
        layout.bytes(),
        "dropped %s, %s, in %s"
            .formatted(
                Plural.of(layout.rows(), "row"),
                ByteSize.format(layout.bytes()),
                seconds(startNanos)));
  }

  /**
   * Records a grant that is new or ends later than before.
   *
   * @param end end of the grant; null if it has none
   */
  void granted(String label, Instant end, long rows, long startNanos) {
    record(
        StoreEvent.Kind.GRANT,
        startNanos,
        rows,
        0,
        "granted reads of %s to \"%s\" %s in %s"
            .formatted(
                Plural.of(rows, "row"),
                label,
                end == null ? "without end" : "until " + end,
                seconds(startNanos)));
  }

  void revoked(String label, List<String> silent, long startNanos) {
    record(
        StoreEvent.Kind.REVOKE,
        startNanos,
        0,
        0,
        "revoked grant \"%s\" in %s%s"
            .formatted(
                label,
                seconds(startNanos),
                silent.isEmpty() ? "" : ", not confirmed by " + silent));
  }

  private void record(StoreEvent.Kind kind, long startNanos, long rows, long bytes, String text) {
    StoreJournal.of(context)
        .record(
            new StoreEvent(
                System.currentTimeMillis(), store, kind, text, rows, bytes, millis(startNanos)));
  }

  private static String text(List<ShardReport> shards) {
    return "%s, %s, %s"
        .formatted(
            Plural.of(shards.size(), "shard"),
            Plural.of(rows(shards), "row"),
            ByteSize.format(bytes(shards)));
  }

  private static List<String> executors(List<ShardReport> shards) {
    return shards.stream().map(ShardReport::executorId).distinct().sorted().toList();
  }

  private static long rows(List<ShardReport> shards) {
    return shards.stream().mapToLong(ShardReport::rows).sum();
  }

  private static long bytes(List<ShardReport> shards) {
    return shards.stream().mapToLong(ShardReport::bytes).sum();
  }

  private static long millis(long startNanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  private static String seconds(long startNanos) {
    return String.format(Locale.ROOT, "%.1f s", millis(startNanos) / 1e3);
  }

  /** Returns the transport without the reason for its choice. */
  private static String transport(ResidentLayout layout) {
    return layout.transport().split(": ", 2)[0];
  }
}
