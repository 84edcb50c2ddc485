// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/**
 * The amount of data that was read over one path.
 *
 * @param path read path
 * @param calls number of reads with at least one row over this path
 * @param rows number of rows over this path
 * @param bytes bytes delivered to the reader; only selected fields count
 */
public record ReadCount(ReadPath path, long calls, long rows, long bytes) implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * {@return the counters of a reader}
   *
   * @param statistics counters of a reader
   */
  public static ReadCount of(ReadStatistics statistics) {
    return new ReadCount(
        statistics.path(), statistics.calls(), statistics.rows(), statistics.bytes());
  }

  /** {@return no reads, one element per {@link ReadPath#index()}} */
  public static List<ReadCount> none() {
    return Arrays.stream(ReadPath.values()).map(path -> of(ReadStatistics.none(path))).toList();
  }

  /** {@return statistics with these counts and a time of 0, because the time is unknown} */
  public ReadStatistics statistics() {
    return new ReadStatistics(path, calls, rows, bytes, 0);
  }

  /**
   * {@return the sum of two counts}
   *
   * @param other count of the same path
   */
  public ReadCount plus(ReadCount other) {
    return new ReadCount(path, calls + other.calls, rows + other.rows, bytes + other.bytes);
  }
}
