package org.ddstore.spark.types;

import java.io.Serializable;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/**
 * What was read over one path.
 *
 * @param calls reads in which at least one row came over it
 * @param rows that came over it
 * @param bytes given to the reader; only the chosen fields count
 */
public record ReadCount(ReadPath path, long calls, long rows, long bytes) implements Serializable {
  private static final long serialVersionUID = 1L;

  public static ReadCount of(ReadStatistics statistics) {
    return new ReadCount(
        statistics.path(), statistics.calls(), statistics.rows(), statistics.bytes());
  }

  /** The same, of which no times are known. */
  public ReadStatistics statistics() {
    return new ReadStatistics(path, calls, rows, bytes, 0);
  }

  public ReadCount plus(ReadCount other) {
    return new ReadCount(path, calls + other.calls, rows + other.rows, bytes + other.bytes);
  }
}
