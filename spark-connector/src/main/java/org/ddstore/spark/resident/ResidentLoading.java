package org.ddstore.spark.resident;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.ShardLoader;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One load of shards into executors, by a barrier job and as many attempts as it needs. What failed
 * attempts have loaded is freed by their ranks, and by those of the next attempt; what the last one
 * has loaded stays when it is confirmed by all executors.
 */
public final class ResidentLoading {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentLoading.class);

  private final ResidentOrigin origin;
  private final ReplicaGroups groups;
  private final StoreToken token;
  private final ResidentProcesses processes;
  private Nonce attempt;

  public ResidentLoading(
      ResidentOrigin origin, ReplicaGroups groups, StoreToken token, ResidentProcesses processes) {
    this.origin = origin;
    this.groups = groups;
    this.token = token;
    this.processes = processes;
  }

  /** What an attempt reads, and how. */
  public record Source(RDD<InternalRow> rows, ShardLoader loader) {}

  /** Gives each attempt what it reads. */
  @FunctionalInterface
  public interface Sources {
    Source of(int attempt);
  }

  /**
   * What was loaded, and stays until it is forgotten or dropped.
   *
   * @param shards by rank
   * @param gone executors that have ended since, with what they had
   */
  public record Loaded(List<ShardReport> shards, Set<String> gone) {}

  /**
   * Runs the job and makes what it has loaded stay. It runs again if executors have freed their
   * rows because they were not confirmed in time. Frees everything if it fails.
   *
   * @param base the global index of the first row
   * @throws DDStoreException if an executor has loaded its rows and does not answer, or the
   *     confirmation is late each time
   */
  public Loaded run(long estimatedBytes, long base, Sources sources) {
    int most = origin.settings().maxAttempts();
    for (int round = 1; ; round++) {
      List<ShardReport> shards = load(estimatedBytes, base, sources);
      ResidentProcesses.Confirmation confirmation = confirm(shards);
      if (confirmation.expired().isEmpty()) {
        return new Loaded(shards, executorsOf(shards, confirmation.ended()));
      }
      forget(shards);
      String late =
          "the rows that executors %s have loaded were not confirmed within %d s"
              .formatted(
                  executorsOf(shards, confirmation.expired()), ResidentShards.LEASE.toSeconds());
      if (round == most || processes.isClosed()) { // the store may have been dropped
        throw new DDStoreException("%s, %d times".formatted(late, round));
      }
      LOG.warn("{}; loading them again", late);
    }
  }

  private List<ShardReport> load(long estimatedBytes, long base, Sources sources) {
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

  private ResidentProcesses.Confirmation confirm(List<ShardReport> shards) {
    try {
      return processes.confirm(
          processesOf(shards),
          attempt,
          process ->
              !LiveExecutors.gone(
                      origin.session().sparkContext(), executorsOf(shards, Set.of(process)))
                  .isEmpty());
    } catch (Throwable e) {
      forget(shards);
      throw e;
    }
  }

  private static Set<String> executorsOf(
      List<ShardReport> shards, Collection<ProcessAddress> processes) {
    Set<String> executors = new TreeSet<>();
    for (ShardReport shard : shards) {
      if (processes.contains(shard.process())) {
        executors.add(shard.executorId());
      }
    }
    return executors;
  }

  /** Frees what was loaded. */
  public void forget(List<ShardReport> shards) {
    processes.forget(processesOf(shards), attempt);
  }

  private static Set<ProcessAddress> processesOf(List<ShardReport> shards) {
    Set<ProcessAddress> all = new LinkedHashSet<>();
    shards.forEach(shard -> all.add(shard.process()));
    return all;
  }
}
