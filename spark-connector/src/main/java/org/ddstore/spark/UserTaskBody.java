// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import org.ddstore.DDStore;
import org.ddstore.spark.cluster.MemoryCheck;
import org.ddstore.spark.job.RankBody;
import org.ddstore.spark.job.ReplicaShards;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.job.TaskResources;

/** The work of one rank after its load: opens the store and runs the user's task. */
record UserTaskBody<T>(RankTask<T> task) implements RankBody<T> {
  private static final long serialVersionUID = 1L;

  @Override
  public T run(StartedRank rank) throws Exception {
    try (DDStore store = DDStore.open(rank.group(), rank.remote().transport(), rank.options());
        TaskResources resources = new TaskResources()) {
      try {
        String digest = addShard(rank, store);
        StoreRows own = new StoreRows("", store.variable(RankContext.ROWS), digest);
        return run(rank, store, List.of(own), resources, task);
      } catch (Exception | Error e) {
        rank.ranks().abort(e); // before the closes, which may wait for reads
        throw e;
      }
    }
  }

  /**
   * Runs a user's task and waits until all ranks have run theirs.
   *
   * @param rows rows that the task reads, first those of its own store
   */
  static <T> T run(
      StartedRank rank,
      DDStore store,
      List<StoreRows> rows,
      TaskResources resources,
      RankTask<T> task)
      throws Exception {
    T result = task.run(new RankContext(rank, store, rows, resources));
    resources.closeAll(); // loaders read from other ranks, which serve only until awaitAll
    rank.ranks().awaitAll("end of the task", rank.settings().finishTimeout());
    rank.remote().end();
    return result;
  }

  /** Adds the shard, loaded in group 0 and copied in other groups, and returns the digest. */
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

  /**
   * Checks early that a task is serializable, because Spark reports it only after the rows have
   * been planned, in a hundred lines.
   *
   * @throws IllegalArgumentException if the task is not serializable
   */
  static void checkSerializable(Serializable task) {
    Objects.requireNonNull(task, "task is null");
    try (ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream())) {
      out.writeObject(task);
    } catch (NotSerializableException e) {
      throw new IllegalArgumentException(
          "the task cannot be sent to the executors: it holds a %s, which is not serializable"
              .formatted(e.getMessage()),
          e);
    } catch (IOException e) {
      throw new IllegalArgumentException("the task cannot be sent to the executors: " + e, e);
    }
  }
}
