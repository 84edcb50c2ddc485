// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.ddstore.types.Cleanup;
import org.ddstore.types.ReadPath;

/**
 * The open readers of a variable, their statistics together with those of the closed ones, and the
 * idle readers that convenience methods share. Thread-safe.
 */
final class OpenReaders implements AutoCloseable {
  private final Set<Reader> readers = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedQueue<Reader> idle = new ConcurrentLinkedQueue<>();
  private final Map<ReadPath, ReadStatistics> closed = new EnumMap<>(ReadPath.class);
  private LatencyHistogram latencyOfClosed = LatencyHistogram.none(); // guarded by closed

  void add(Reader reader) {
    readers.add(reader);
  }

  /** Removes a reader that is closed and keeps its statistics. */
  void remove(Reader reader) {
    synchronized (closed) {
      if (readers.remove(reader)) {
        for (ReadPath path : ReadPath.values()) {
          closed.merge(path, reader.statistics(path), ReadStatistics::plus);
        }
        latencyOfClosed = latencyOfClosed.plus(reader.latency());
      }
    }
  }

  /** Returns the statistics of all readers, one per path. */
  List<ReadStatistics> statistics() {
    synchronized (closed) {
      List<ReadStatistics> all = new ArrayList<>();
      for (ReadPath path : ReadPath.values()) {
        ReadStatistics sum = closed.getOrDefault(path, ReadStatistics.none(path));
        for (Reader reader : readers) {
          sum = sum.plus(reader.statistics(path));
        }
        all.add(sum);
      }
      return all;
    }
  }

  /** Returns the durations of timed batches of all readers. */
  LatencyHistogram latency() {
    synchronized (closed) {
      return readers.stream().map(Reader::latency).reduce(latencyOfClosed, LatencyHistogram::plus);
    }
  }

  /** Returns an idle reader; null if there is none. */
  Reader pollIdle() {
    return idle.poll();
  }

  void addIdle(Reader reader) {
    idle.add(reader);
  }

  @Override
  public void close() {
    Cleanup.runAll(readers.stream().map(reader -> reader::close));
  }
}
