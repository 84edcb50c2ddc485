// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One load of shards into executors, by a barrier job of one or more attempts. The ranks of a
 * failed attempt free its rows, and so do the ranks of the next attempt. The rows of the last
 * attempt stay after all executors have confirmed them.
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

  /** The rows that an attempt loads, and their loader. */
  public record Source(RDD<InternalRow> rows, ShardLoader loader) {}

  /** A supplier of the rows of each attempt. */
  @FunctionalInterface
  public interface Sources {
    Source of(int attempt);
  }

  /**
   * The confirmed rows of a load.
   *
   * @param gone ids of executors that have ended since, with their shards
   */
  public record Loaded(List<ShardReport> shards, Set<String> gone) {}

  /**
   * Runs the job, confirms the loaded rows, so that they stay, and publishes them. Runs the job
   * again if executors have freed their rows because the confirmation came too late. Frees
   * everything if it fails.
   *
   * @param estimatedBytes memory of all copies of the rows; 0 if unknown
   * @param base global index of the first row
   * @param publish commit point: makes the rows known, or throws
   * @return the result of {@code publish}
   * @throws DDStoreException if an executor that has loaded its rows does not answer, or every
   *     confirmation came too late
   */
  public <T> T run(long estimatedBytes, long base, Sources sources, Function<Loaded, T> publish) {
    LoadProtocol<ProcessAddress> load = new LoadProtocol<>(origin.settings().maxAttempts());
    List<ShardReport> shards = List.of();
    T published = null;
    try {
      while (load.step() != LoadProtocol.Step.COMMITTED) {
        switch (load.step()) {
          case RUN -> {
            shards = load(estimatedBytes, base, sources);
            load.loaded(shards.stream().map(ShardReport::process).toList());
          }
          case CONFIRM -> confirm(load, shards);
          case PUBLISH -> {
            published = publish.apply(new Loaded(shards, executorsOf(shards, load.ended())));
            load.published();
          }
          case FORGET -> loadAgain(load, shards);
          default -> throw new IllegalStateException(load.step().toString());
        }
      }
    } catch (Throwable e) {
      load.failed();
      if (load.step() == LoadProtocol.Step.FORGET) {
        processes.forget(load.holders(), attempt);
      }
      throw e;
    }
    return published;
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
                  new ResidentLoadTask(token, attempt, source.loader(), base));
            });
  }

  private void confirm(LoadProtocol<ProcessAddress> load, List<ShardReport> shards) {
    SparkContext context = origin.session().sparkContext();
    processes.confirm(
        load,
        attempt,
        process -> !LiveExecutors.ended(context, executorsOf(shards, Set.of(process))).isEmpty());
  }

  /** Frees the rows of a job that were confirmed too late. */
  private void loadAgain(LoadProtocol<ProcessAddress> load, List<ShardReport> shards) {
    processes.forget(load.holders(), attempt);
    load.forgotten(processes.isClosed());
    String message =
        "rows on executors %s were not confirmed within %d s of their load"
            .formatted(executorsOf(shards, load.expired()), ResidentShards.LEASE.toSeconds());
    if (load.step() == LoadProtocol.Step.FAILED) {
      throw new DDStoreException("%s, %d times".formatted(message, load.rounds()));
    }
    LOG.warn("store {}: loading rows again: {}", token.id(), message);
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
}
