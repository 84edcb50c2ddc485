package org.ddstore.spark;

import java.io.Serializable;
import org.ddstore.ReadPath;
import org.ddstore.ReadStatistics;

/**
 * What was read over one path.
 *
 * @param rows that came over it
 * @param bytes given to the reader; only the chosen fields count
 */
public record ReadCount(ReadPath path, long rows, long bytes) implements Serializable {
  private static final long serialVersionUID = 1L;

  static ReadCount of(ReadStatistics statistics) {
    return new ReadCount(statistics.path(), statistics.rows(), statistics.bytes());
  }

  ReadCount plus(ReadCount other) {
    return new ReadCount(path, rows + other.rows, bytes + other.bytes);
  }
}
