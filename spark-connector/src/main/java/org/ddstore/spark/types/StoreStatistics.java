// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.util.List;

/**
 * The state of a resident store, and what was read of it since it was loaded.
 *
 * @param name name of the store
 * @param owner user who created it
 * @param createdMs time of the load, in milliseconds since 1970
 * @param rows number of rows
 * @param bytes memory of one copy of the rows, in bytes
 * @param ranks number of ranks in all replica groups
 * @param width number of ranks of a replica group, which together hold one full copy
 * @param backing {@code shm}, {@code file} or {@code direct}
 * @param isShortcut whether rows of the same process and host are read by memory
 * @param transport path of rows that memory does not reach, such as {@code tcp, ..}
 * @param lostRanks ranks of lost shards, ascending; empty if all copies are complete
 * @param unreadableRows number of rows of which no copy is left
 * @param losses number of shards lost since the load
 * @param repairs number of completed repairs
 * @param repairMillis duration of these repairs, in milliseconds
 * @param executors what each executor holds and reads, by the first rank that it holds; executors
 *     that hold no rows follow
 * @param grants permissions to read the store from outside of the application
 */
public record StoreStatistics(
    String name,
    String owner,
    long createdMs,
    long rows,
    long bytes,
    int ranks,
    int width,
    String backing,
    boolean isShortcut,
    String transport,
    List<Integer> lostRanks,
    long unreadableRows,
    long losses,
    long repairs,
    long repairMillis,
    List<ExecutorStatistics> executors,
    List<StoreGrant> grants) {}
