package org.ddstore.spark;

import org.ddstore.DDStore;
import org.ddstore.spark.cluster.MemoryCheck;
import org.ddstore.spark.job.RankBody;
import org.ddstore.spark.job.ReplicaShards;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.job.TaskLoaders;

/** A rank opens the store of what it has loaded, and runs the user's task. */
record TaskBody<T>(RankTask<T> task) implements RankBody<T> {
  private static final long serialVersionUID = 1L;

  @Override
  public T run(StartedRank rank) throws Exception {
    try (DDStore store = DDStore.open(rank.group(), rank.remote().transport(), rank.options());
        TaskLoaders loaders = new TaskLoaders()) {
      try {
        String digest = addShard(rank, store);
        return run(rank, store, digest, loaders, task);
      } catch (Exception | Error e) {
        rank.ranks().abort(e); // before the closes, which may wait for reads
        throw e;
      }
    }
  }

  /**
   * Runs a user's task, and returns when all ranks have run theirs.
   *
   * @param digest of the rows
   */
  static <T> T run(
      StartedRank rank, DDStore store, String digest, TaskLoaders loaders, RankTask<T> task)
      throws Exception {
    T result = task.run(new RankContext(rank, store, digest, loaders));
    loaders.closeAll(); // they read from others, who wait for us only until we have arrived
    rank.ranks().awaitAll("end of the task", rank.settings().finishTimeout());
    rank.remote().end();
    return result;
  }

  /** Adds what was loaded in group 0, and copies of it in the others; returns its digest. */
  private static String addShard(StartedRank rank, DDStore store) {
    if (rank.groups().groups() == 1) {
      store.add(RankContext.ROWS, rank.writer());
      return store.digest(RankContext.ROWS);
    }
    ReplicaShards shards =
        new ReplicaShards(
            rank.groups(),
            rank.ranks(),
            rank.remote().forCopies(),
            rank.options(),
            rank.settings().finishTimeout());
    MemoryCheck.naming(rank.settings(), () -> shards.add(store, rank.writer()));
    return shards.digest(store);
  }
}
