// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.ddstore.spark.backend.SharedLoss;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.RunWarnings;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.resident.RankOutcome;
import org.ddstore.spark.resident.ResidentChanges;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.resident.ResidentPlaces;
import org.ddstore.spark.resident.ResidentReads;
import org.ddstore.spark.resident.SharedLossWarning;
import org.ddstore.spark.resident.StoreEvents;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A runner of tasks on the shards of one resident store, with the warnings that concern runs.
 * Thread-safe.
 */
final class ResidentRunner {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentRunner.class);

  private final String name;
  private final ResidentOrigin origin;
  private final StoreToken token;
  private final ResidentPlaces places;
  private final ResidentChanges changes;
  private final ResidentReads reads;
  private final Function<ResidentLayout, StoreSnapshot> snapshots;
  private final AtomicBoolean warnedOfLocality = new AtomicBoolean();
  private final AtomicBoolean warnedOfSharedLoss = new AtomicBoolean();

  ResidentRunner(
      String name,
      ResidentOrigin origin,
      StoreToken token,
      ResidentPlaces places,
      ResidentChanges changes,
      ResidentReads reads,
      Function<ResidentLayout, StoreSnapshot> snapshots) {
    this.name = name;
    this.origin = origin;
    this.token = token;
    this.places = places;
    this.changes = changes;
    this.reads = reads;
    this.snapshots = snapshots;
  }

  private SparkContext context() {
    return origin.session().sparkContext();
  }

  /** Runs a serializable task on every rank; see {@link ResidentStore#run}. */
  <T> List<T> run(RankTask<T> task) {
    return run("run", layout -> task, List.of());
  }

  /**
   * Runs a serializable task on every rank.
   *
   * @param action what the task does, for Spark's UI
   * @param tasks function that returns the task of an attempt, for the layout at its start
   * @param others other stores whose rows the ranks read as well
   */
  <T> List<T> run(
      String action, Function<ResidentLayout, RankTask<T>> tasks, List<ResidentRunner> others) {
    places.checkLive();
    long start = System.nanoTime();
    AtomicReference<ResidentLayout> lastLayout = new AtomicReference<>();
    List<RankOutcome<T>> outcomes =
        JobDescription.ofStore(
            context(),
            name,
            action,
            () ->
                origin
                    .job(places.now().groups(), 0)
                    .run(
                        attempt -> {
                          warnOfLocality();
                          ResidentLayout now = withoutGaps();
                          lastLayout.set(now);
                          List<StoreSnapshot> more =
                              others.stream().map(ResidentRunner::readableSnapshot).toList();
                          return new BarrierJob.Load<>(
                              PlacedRdd.empty(context(), now.preferredLocations()),
                              null,
                              token,
                              new ResidentRun<>(
                                  tasks.apply(now), snapshots.apply(now), now.homes(), more));
                        }));
    count(outcomes, lastLayout.get());
    List<String> otherStores = others.stream().map(other -> other.name).toList();
    events().ran(action, outcomes, lastLayout.get(), start, otherStores);
    List<T> results = new ArrayList<>(); // may be null
    for (RankOutcome<T> outcome : outcomes) {
      results.add(outcome.result());
    }
    return results;
  }

  /**
   * Prepares an attempt of a run whose ranks are not started by this class: waits for the cluster,
   * restores lost rows, and records the first attempt. Blocks.
   *
   * @param attempt number of the attempt, from 1
   */
  void prepare(long attempt) {
    places.checkLive();
    origin.job(places.now().groups(), 0).awaitCluster();
    warnOfLocality();
    ResidentLayout layout = withoutGaps();
    if (attempt == 1) {
      events().starts(layout);
    }
  }

  private StoreEvents events() {
    return new StoreEvents(context(), name);
  }

  private StoreSnapshot readableSnapshot() {
    places.checkLive();
    return snapshots.apply(withoutGaps());
  }

  /** Repairs the store if rows are lost or about to be lost, and returns its layout. */
  private ResidentLayout withoutGaps() {
    if (places.findLost().without(places.leaving()).hasGaps()) {
      try {
        changes.repair();
      } catch (StoreJobException e) { // all attempts of the repair have failed
        throw new DDStoreException(
            "lost rows of \"%s\" could not be restored: %s".formatted(name, e.getMessage()), e);
      }
    }
    return places.now();
  }

  private void count(List<? extends RankOutcome<?>> outcomes, ResidentLayout layout) {
    ClusterFacts cluster = ClusterFacts.of(context(), origin.profile());
    reads.add(outcomes, RankOutcome.Misplaced.of(outcomes, layout, cluster));
    reads.misplaced().forEach(rank -> LOG.warn("store \"{}\": {}", name, rank));
  }

  /** Warns once about locality settings; warnings about slots are logged by every job. */
  private void warnOfLocality() {
    RunWarnings.ofLocality(context().getConf())
        .filter(warning -> warnedOfLocality.compareAndSet(false, true))
        .ifPresent(warning -> LOG.warn("store \"{}\": {}", name, warning));
  }

  /** Warns once if executors that end together hold all copies of some shard. */
  void warnOf(SharedLoss loss) {
    SharedLossWarning.of(name, places.now(), loss)
        .filter(warning -> warnedOfSharedLoss.compareAndSet(false, true))
        .ifPresent(LOG::warn);
  }

  List<String> warnings() {
    List<String> warnings =
        new ArrayList<>(RunWarnings.of(context(), origin.profile(), origin.settings().ranks()));
    Set<String> leaving = places.leaving();
    if (!leaving.isEmpty()) {
      warnings.add(
          "executors %s are being decommissioned: repair() copies their rows to others"
              .formatted(leaving));
    }
    return warnings;
  }
}
