// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.ReadStatistics;
import org.ddstore.Variable;
import org.ddstore.spark.job.RankBody;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.job.TaskResources;
import org.ddstore.spark.resident.RankOutcome;
import org.ddstore.spark.resident.ReaderCounters;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.spark.types.ReadCount;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work of one rank in a run on a resident store: opens the store from existing shards and runs
 * the user's task.
 *
 * @param task task of the user
 * @param snapshot state of the store
 * @param homes id of the executor that holds the shard of each rank, by rank
 * @param others states of other stores whose rows the task reads as well
 */
record ResidentRun<T>(
    RankTask<T> task, StoreSnapshot snapshot, List<String> homes, List<StoreSnapshot> others)
    implements RankBody<RankOutcome<T>> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(ResidentRun.class);

  @Override
  public RankOutcome<T> run(StartedRank rank) throws Exception {
    boolean home = homes.get(rank.rank()).equals(StartedRank.executorId());
    if (!home) {
      LOG.warn(
          "rank {} of store \"{}\" runs on executor {}, its shard is on executor {}",
          rank.rank(),
          snapshot.name(),
          StartedRank.executorId(),
          homes.get(rank.rank()));
    }
    try (DDStore store = DDStore.open(rank.group(), rank.remote().transport(), rank.options());
        OtherStores more = new OtherStores();
        TaskResources resources = new TaskResources()) {
      try {
        store.adopt(copies(rank));
        more.attach(others);
        Variable rows = store.variable(RankContext.ROWS);
        StoreRows own = new StoreRows(snapshot.name(), rows, snapshot.digest());
        StoreMetrics.Watch watch =
            StoreMetrics.watch(
                snapshot, "rank" + rank.rank(), ReaderCounters.of(rows, own.loaders()));
        T result;
        try {
          result = UserTaskBody.run(rank.at(home), store, more.with(own), resources, task);
        } finally {
          watch.close();
        }
        List<ReadStatistics> reads = rows.statistics();
        return new RankOutcome<>(
            result, StartedRank.executorId(), home, reads.stream().map(ReadCount::of).toList());
      } catch (Exception | Error e) {
        rank.ranks().abort(e); // before the closes, which may wait for reads
        throw e;
      }
    }
  }

  /** Returns the catalogs of all copies, first that of the rank's own group. */
  private List<Catalog> copies(StartedRank rank) {
    List<Catalog> copies = new ArrayList<>(snapshot.catalogs());
    Collections.rotate(copies, -rank.groups().groupOf(rank.rank()));
    return copies;
  }
}
