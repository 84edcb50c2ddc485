// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.List;
import java.util.stream.IntStream;
import org.ddstore.LatencyHistogram;

/**
 * The reads of one kind of reader of a store in one executor.
 *
 * @param reader {@code rank<r>}, {@code scan} or {@code attached}
 * @param reads amounts by read path, in the order of {@link org.ddstore.types.ReadPath}
 * @param latency durations of about one batch in 64
 * @param loader times of the reader's loaders; {@link LoaderTimes#none()} if it has none
 */
public record ReaderStatistics(
    String reader, List<ReadCount> reads, LatencyHistogram latency, LoaderTimes loader)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * Copies the list.
   *
   * @param reader {@code rank<r>}, {@code scan} or {@code attached}
   * @param reads amounts by read path, in the order of {@link org.ddstore.types.ReadPath}
   * @param latency durations of about one batch in 64
   * @param loader times of the reader's loaders; {@link LoaderTimes#none()} if it has none
   */
  public ReaderStatistics {
    reads = List.copyOf(reads);
  }

  /**
   * {@return the sum of both statistics}
   *
   * @param other reads of the same kind of reader
   */
  public ReaderStatistics plus(ReaderStatistics other) {
    return new ReaderStatistics(
        reader,
        IntStream.range(0, reads.size())
            .mapToObj(path -> reads.get(path).plus(other.reads.get(path)))
            .toList(),
        latency.plus(other.latency),
        loader.plus(other.loader));
  }
}
