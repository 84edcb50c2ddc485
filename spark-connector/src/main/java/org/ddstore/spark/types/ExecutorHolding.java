package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentShards;
import org.ddstore.types.ProcessAddress;

/**
 * What an executor holds of a resident store, as it says itself.
 *
 * @param executorId Spark's name of it
 * @param host its address, as Spark knows it
 * @param ranks whose rows it holds
 * @param shards in how many pieces: each append adds some
 * @param rows how many
 * @param bytes of memory
 * @param servedRequests how many requests of other processes for rows it has served
 */
public record ExecutorHolding(
    String executorId,
    String host,
    List<Integer> ranks,
    int shards,
    long rows,
    long bytes,
    long servedRequests)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  public ExecutorHolding {
    ranks = List.copyOf(ranks);
  }

  static List<ExecutorHolding> of(
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
