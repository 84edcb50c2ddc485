// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/**
 * Counters of rows and bytes read by a task, by path, and of its time. Written by one thread, read
 * by any.
 */
final class ReadCounts {
  private static final int PATHS = ReadPath.values().length;

  private final AtomicLongArray counts = new AtomicLongArray(3 * PATHS);
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong waitNanos = new AtomicLong();

  /** Adds the time in which a batch was made. */
  void addNanos(long added) {
    nanos.addAndGet(added);
  }

  /** Adds the part of such a time in which the task waited for rows of other hosts. */
  void addWaitNanos(long added) {
    waitNanos.addAndGet(added);
  }

  long waitNanos() {
    return waitNanos.get();
  }

  /** Returns the time in which the task read rows and did not wait for other hosts. */
  long readNanos() {
    return Math.max(0, nanos.get() - waitNanos.get());
  }

  void add(ReadPath path, long rows, long bytes) {
    counts.addAndGet(path.index(), rows);
    counts.addAndGet(PATHS + path.index(), bytes);
    counts.addAndGet(2 * PATHS + path.index(), rows > 0 ? 1 : 0);
  }

  long rows(ReadPath path) {
    return counts.get(path.index());
  }

  long bytes(ReadPath path) {
    return counts.get(PATHS + path.index());
  }

  long calls(ReadPath path) {
    return counts.get(2 * PATHS + path.index());
  }

  List<ReadStatistics> statistics() {
    List<ReadStatistics> all = new ArrayList<>();
    for (ReadPath path : ReadPath.values()) {
      all.add(new ReadStatistics(path, calls(path), rows(path), bytes(path), 0));
    }
    return all;
  }

  long rows() {
    long rows = 0;
    for (ReadPath path : ReadPath.values()) {
      rows += rows(path);
    }
    return rows;
  }

  long bytes() {
    long bytes = 0;
    for (ReadPath path : ReadPath.values()) {
      bytes += bytes(path);
    }
    return bytes;
  }
}
