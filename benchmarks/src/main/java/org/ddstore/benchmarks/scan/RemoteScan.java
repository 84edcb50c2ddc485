// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.util.List;
import java.util.Set;
import org.apache.spark.SparkContext;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.DDStoreException;

/**
 * The placement of tasks for {@code --no-shortcut}, on two executors with one slot each: one
 * executor loads all rows, then the other one runs all queries. A task that only waits occupies the
 * slot of the executor that must not be used.
 */
final class RemoteScan implements AutoCloseable {
  private final SparkContext context;
  private final TaskRecord record;

  /** The slot of the executor of the queries, occupied during the load. */
  private final OccupiedSlot reader;

  /** The slot of the executor of the rows, occupied during the queries; null before. */
  private OccupiedSlot holder;

  /**
   * The placement and the reads of all queries with {@code --no-shortcut}, including those of
   * warm-up rounds.
   *
   * @param rowsExecutor id of the executor that holds all rows of the store and of the cache
   * @param tasksExecutor id of the executor that ran all tasks
   * @param tasks number of tasks
   * @param rows number of rows of the store that the tasks have read
   * @param blocks number of blocks of Spark's cache that the tasks have read
   * @param transport transport of the rows of the store
   * @param why reason for its choice
   */
  record Reads(
      String rowsExecutor,
      String tasksExecutor,
      long tasks,
      long rows,
      long blocks,
      String transport,
      String why) {
    List<String> lines() {
      return List.of(
          "%,d tasks on executor %s have read from executor %s: %,d rows of the store by %s; %,d blocks of Spark's cache by its block transfer"
              .formatted(tasks, tasksExecutor, rowsExecutor, rows, transport, blocks),
          "%s: %s".formatted(transport, why));
    }
  }

  private RemoteScan(SparkContext context, OccupiedSlot reader) {
    this.context = context;
    this.reader = reader;
    this.record = new TaskRecord(context);
  }

  /** Reserves one executor, so that the next jobs load all rows in the other one. */
  static RemoteScan reserve(SparkContext context) {
    return new RemoteScan(context, OccupiedSlot.take(context));
  }

  /** Returns the spec of a store in one executor, whose rows are read over the transport. */
  static StoreSpec store(StoreSpec spec) {
    return spec.ranks(1).shortcut(false);
  }

  /**
   * Moves the next jobs to the reserved executor.
   *
   * @throws DDStoreException if the rows of the run are not in the other one
   */
  void moveTasks(ScanRun run) {
    holder = OccupiedSlot.take(context); // the last free slot
    if (holder.executor().equals(reader.executor())) {
      throw new DDStoreException(
          "--no-shortcut: executor %s has more than one slot: it needs two executors with one slot each"
              .formatted(holder.executor()));
    }
    record.await();
    if (!run.isAllCached()) {
      throw new DDStoreException(
          "--no-shortcut: Spark's cache does not hold all rows: increase --executor-memory");
    }
    requireRows(run);
    record.forgetTasks();
    reader.close();
  }

  private void requireRows(ScanRun run) {
    requireOnly("rows of the store", run.storeExecutors(), holder.executor());
    requireOnly("cached blocks", record.blockExecutors(), holder.executor());
  }

  private static void requireOnly(String subject, Set<String> executors, String expected) {
    if (!executors.equals(Set.of(expected))) {
      throw new DDStoreException(
          "--no-shortcut: %s on executors %s, not only on %s: it needs two executors with one slot each"
              .formatted(subject, executors, expected));
    }
  }

  /**
   * Checks the queries since {@link #moveTasks}.
   *
   * @throws DDStoreException if a task ran in the executor of the rows, a row was read from memory,
   *     a block was not read from the cache, or the cache has put a block elsewhere
   */
  Reads verify(ScanRun run) {
    record.await();
    TaskRecord.Tasks tasks = record.tasks();
    requireOnly("query tasks", tasks.executors(), reader.executor());
    requireRows(run);
    if (tasks.rows() == 0 || tasks.rowsOverNetwork() != tasks.rows()) {
      throw new DDStoreException(
          "--no-shortcut: %,d of %,d rows of the store came over the network: report it"
              .formatted(tasks.rowsOverNetwork(), tasks.rows()));
    }
    long reads = (long) record.blocks() * run.queriesRun();
    if (tasks.blockReads() != reads) {
      throw new DDStoreException(
          "--no-shortcut: tasks have read %,d cached blocks in place of %,d: increase --executor-memory"
              .formatted(tasks.blockReads(), reads));
    }
    String[] transport = run.transport().split(": ", 2);
    return new Reads(
        holder.executor(),
        reader.executor(),
        tasks.count(),
        tasks.rows(),
        reads,
        transport[0],
        transport[1]);
  }

  @Override
  public void close() {
    record.close();
    reader.close();
    if (holder != null) {
      holder.close();
    }
  }
}
