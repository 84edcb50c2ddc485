// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.spark.types.ExecutorHolding;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.ProcessAddress;

/** The holdings of executors of a resident store, from the answers of their processes. */
public final class ExecutorHoldings {
  private ExecutorHoldings() {}

  /** Returns the holdings of each executor that has answered, ordered by its first shard. */
  public static List<ExecutorHolding> of(
      ResidentLayout layout, Map<ProcessAddress, ResidentShards.Summary> summaries) {
    Map<String, List<ResidentShard>> byExecutor = new LinkedHashMap<>();
    for (ResidentShard shard : layout.shards()) {
      byExecutor.computeIfAbsent(shard.executorId(), id -> new ArrayList<>()).add(shard);
    }
    List<ExecutorHolding> all = new ArrayList<>();
    byExecutor.forEach(
        (id, shards) -> {
          ResidentShard first = shards.get(0);
          ResidentLayout.Place place = new ResidentLayout.Place(first.append(), first.rank());
          ResidentShards.Summary summary = summaries.get(layout.shard(place).process());
          if (summary != null) {
            all.add(
                new ExecutorHolding(
                    id,
                    first.host(),
                    shards.stream().map(ResidentShard::rank).distinct().sorted().toList(),
                    summary.shards(),
                    summary.rows(),
                    summary.bytes(),
                    summary.servedRequests()));
          }
        });
    return all;
  }
}
