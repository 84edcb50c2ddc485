// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.types.Internal;

/** The properties of a store as a table of the catalog. */
@Internal
public final class StoreProperties {
  private static final int SHOWN_PLACES = 16;

  private StoreProperties() {}

  /**
   * {@return the properties, by name} Does not block.
   *
   * @param store store of the application
   */
  public static Map<String, String> of(ResidentStore store) {
    StoreStatistics now = store.lastStatistics();
    long ageS = TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis() - now.createdMs());
    Map<String, String> properties = new TreeMap<>();
    properties.put(TableCatalog.PROP_OWNER, now.owner());
    properties.put("created", Instant.ofEpochMilli(now.createdMs()).toString());
    properties.put("age", Math.max(0, ageS) + " s");
    properties.put("rows", Long.toString(now.rows()));
    properties.put("bytes", Long.toString(now.bytes()));
    properties.put("ranks", Integer.toString(now.ranks()));
    properties.put("width", Integer.toString(now.width()));
    properties.put("backing", now.backing());
    properties.put("transport", now.transport());
    properties.put("places", places(store.shards().subList(0, now.ranks())));
    return properties;
  }

  private static String places(List<ResidentShard> shards) {
    Map<String, List<Integer>> ranks = new LinkedHashMap<>();
    for (ResidentShard shard : shards) {
      String place =
          "executor %s (%s%s)"
              .formatted(shard.executorId(), shard.host(), shard.isLost() ? ", lost" : "");
      ranks.computeIfAbsent(place, added -> new ArrayList<>()).add(shard.rank());
    }
    List<String> shown = new ArrayList<>();
    ranks.forEach((place, held) -> shown.add("%s: %s".formatted(place, runs(held))));
    int more = shown.size() - SHOWN_PLACES;
    return more <= 0
        ? String.join("; ", shown)
        : "%s; and %d more".formatted(String.join("; ", shown.subList(0, SHOWN_PLACES)), more);
  }

  /** Returns ascending ranks such as {@code ranks 0-3, 8}, truncated after some runs. */
  private static String runs(List<Integer> ranks) {
    StringBuilder text = new StringBuilder(ranks.size() == 1 ? "rank " : "ranks ");
    int shown = 0;
    for (int i = 0; i < ranks.size(); i++) {
      int first = ranks.get(i);
      while (i + 1 < ranks.size() && ranks.get(i + 1) == ranks.get(i) + 1) {
        i++;
      }
      if (shown++ == SHOWN_PLACES) {
        return text.append(", ..").toString();
      }
      text.append(shown == 1 ? "" : ", ").append(first);
      if (ranks.get(i) != first) {
        text.append('-').append(ranks.get(i));
      }
    }
    return text.toString();
  }
}
