// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.util.List;

/**
 * The placement and the reads of all queries with {@code --no-shortcut}, including those of warm-up
 * rounds.
 *
 * @param rowsExecutor id of the executor that holds all rows of the store and of the cache
 * @param tasksExecutor id of the executor that ran all tasks
 * @param tasks number of tasks
 * @param rows number of rows of the store that the tasks have read
 * @param blocks number of blocks of Spark's cache that the tasks have read
 * @param transport transport of the rows of the store
 * @param why reason for its choice
 */
record RemoteReads(
    String rowsExecutor,
    String tasksExecutor,
    long tasks,
    long rows,
    long blocks,
    String transport,
    String why) {

  /** Returns human-readable lines. */
  List<String> lines() {
    return List.of(
        "%,d tasks on executor %s have read from executor %s: %,d rows of the store by %s; %,d blocks of Spark's cache by its block transfer"
            .formatted(tasks, tasksExecutor, rowsExecutor, rows, transport, blocks),
        "%s: %s".formatted(transport, why));
  }
}
