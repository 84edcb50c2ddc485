package org.ddstore.spark;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ProcessAddress;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.StoreToken;

/**
 * One load of shards into executors, by a barrier job and as many attempts as it needs. What failed
 * attempts have loaded is freed by their ranks, and by those of the next attempt; what the last one
 * has loaded stays when it is confirmed.
 */
final class ResidentLoading {
  private final ResidentOrigin origin;
  private final ReplicaGroups groups;
  private final StoreToken token;
  private final ResidentProcesses processes;
  private Nonce attempt;

  ResidentLoading(
      ResidentOrigin origin, ReplicaGroups groups, StoreToken token, ResidentProcesses processes) {
    this.origin = origin;
    this.groups = groups;
    this.token = token;
    this.processes = processes;
  }

  /** What an attempt reads, and how. */
  record Source(RDD<InternalRow> rows, ShardLoader loader) {}

  /** Gives each attempt what it reads. */
  @FunctionalInterface
  interface Sources {
    Source of(int attempt);
  }

  /**
   * Runs the job. Nothing stays before {@link #confirm}.
   *
   * @param base the global index of the first row
   * @return by rank
   */
  List<ShardReport> run(long estimatedBytes, long base, Sources sources) {
    return origin
        .job(groups, estimatedBytes)
        .run(
            number -> {
              attempt = Nonce.random();
              Source source = sources.of(number);
              return new BarrierJob.Load<>(
                  source.rows(),
                  source.loader(),
                  token,
                  new ResidentLoad(token, attempt, source.loader(), base));
            });
  }

  /**
   * Makes what was loaded stay.
   *
   * @return the executors that are gone by now, with what they had loaded
   */
  Set<String> confirm(List<ShardReport> shards) {
    Set<ProcessAddress> gone = processes.confirm(processesOf(shards), attempt);
    Set<String> executors = new TreeSet<>();
    for (ShardReport shard : shards) {
      if (gone.contains(shard.process())) {
        executors.add(shard.executorId());
      }
    }
    return executors;
  }

  /** Frees what was loaded. */
  void forget(List<ShardReport> shards) {
    processes.forget(processesOf(shards), attempt);
  }

  private static Set<ProcessAddress> processesOf(List<ShardReport> shards) {
    Set<ProcessAddress> all = new LinkedHashSet<>();
    shards.forEach(shard -> all.add(shard.process()));
    return all;
  }
}
