// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Plural;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A run on several resident stores; its ranks are those of the first one. */
final class StoresRun {
  private static final Logger LOG = LoggerFactory.getLogger(StoresRun.class);

  private final ResidentStore first;
  private final List<ResidentStore> others;

  private StoresRun(ResidentStore first, List<ResidentStore> others) {
    this.first = first;
    this.others = others;
  }

  /**
   * Returns the run on these stores.
   *
   * @throws IllegalArgumentException if they do not fit each other
   */
  static StoresRun of(List<ResidentStore> stores) {
    Objects.requireNonNull(stores, "stores is null");
    stores.forEach(store -> Objects.requireNonNull(store, "an element of stores is null"));
    if (stores.isEmpty()) {
      throw new IllegalArgumentException("the list of stores is empty: give at least one");
    }
    ResidentStore first = stores.get(0);
    Set<String> names = new HashSet<>();
    for (ResidentStore store : stores) {
      if (!names.add(store.name())) {
        throw new IllegalArgumentException(
            "store \"%s\" is in the list twice: give each store once".formatted(store.name()));
      }
      if (store.context() != first.context()) {
        throw new IllegalArgumentException(
            "stores \"%s\" and \"%s\" belong to different applications: load both in one"
                .formatted(first.name(), store.name()));
      }
      store.places().checkLive();
      if (store.ranks() != first.ranks()) {
        throw new IllegalArgumentException(
            "store \"%s\" has %s, store \"%s\" has %d: load both with ranks(%d)"
                .formatted(
                    first.name(),
                    Plural.of(first.ranks(), "rank"),
                    store.name(),
                    store.ranks(),
                    first.ranks()));
      }
    }
    return new StoresRun(first, List.copyOf(stores.subList(1, stores.size())));
  }

  <T> List<T> run(RankTask<T> task) {
    others.forEach(this::warnOfOtherHomes);
    return first
        .runner()
        .run("run", layout -> task, others.stream().map(ResidentStore::runner).toList());
  }

  /** Logs the ranks whose shards of another store are in other executors than their own. */
  private void warnOfOtherHomes(ResidentStore other) {
    List<ResidentShard> ownShards = first.shards().subList(0, first.ranks());
    List<Integer> apart =
        other.shards().subList(0, first.ranks()).stream()
            .filter(shard -> !shard.executorId().equals(ownShards.get(shard.rank()).executorId()))
            .map(ResidentShard::rank)
            .toList();
    if (!apart.isEmpty()) {
      LOG.info(
          "store \"{}\": ranks {} have their shards in other executors than those of \"{}\"",
          other.name(),
          apart,
          first.name());
    }
  }
}
