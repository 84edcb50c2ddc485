// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The rows that a store has at a time: pieces, one after the other. All values of a row follow from
 * the number of its content and its position in it.
 */
record Version(List<Piece> pieces) implements Serializable {
  static final String[] FIELDS = {"content", "position", "value", "x", "text"};

  private static final long serialVersionUID = 1L;
  private static final long PRIME = 2_147_483_647L;
  private static final int X_VALUES = 4096;

  /** Rows that are loaded or appended together. */
  record Piece(long content, long rows) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Returns a deterministic plan of the rows. */
    Dataset<Row> frame(SparkSession session) {
      return session
          .range(0, rows, 1, 3)
          .selectExpr(
              "%dL as content".formatted(content),
              "id as position",
              "(id * 1000003 + %d) %% %d as value".formatted(content * 10_007, PRIME))
          .selectExpr(
              "content",
              "position",
              "value",
              "array(cast(value %% %1$d as float), cast(position %% %1$d as float)) as x"
                  .formatted(X_VALUES),
              "concat('t', repeat('-', cast(value % 7 as int)), value) as text");
    }
  }

  /** A row as it was read. */
  record Read(
      long index, long content, long position, long value, float x0, float x1, String text) {
    @Override
    public String toString() {
      return "row %d: content %d, position %d, value %d, x [%s, %s], text %s"
          .formatted(index, content, position, value, x0, x1, text);
    }
  }

  Version {
    pieces = List.copyOf(pieces);
  }

  static Version of(Piece piece) {
    return new Version(List.of(piece));
  }

  Version with(Piece piece) {
    List<Piece> more = new ArrayList<>(pieces);
    more.add(piece);
    return new Version(more);
  }

  long rows() {
    return pieces.stream().mapToLong(Piece::rows).sum();
  }

  /** Returns the difference of a row from this version; empty if there is none. */
  Optional<String> difference(Read row) {
    long first = 0;
    for (Piece piece : pieces) {
      if (row.index() < first + piece.rows()) {
        Read expected = row(row.index(), piece.content(), row.index() - first);
        return expected.equals(row)
            ? Optional.empty()
            : Optional.of("expected %s, read %s".formatted(expected, row));
      }
      first += piece.rows();
    }
    return Optional.of("expected %d rows, read %s".formatted(first, row));
  }

  private static Read row(long index, long content, long position) {
    long value = value(content, position);
    return new Read(
        index,
        content,
        position,
        value,
        value % X_VALUES,
        position % X_VALUES,
        "t" + "-".repeat((int) (value % 7)) + value);
  }

  private static long value(long content, long position) {
    return (position * 1_000_003 + content * 10_007) % PRIME;
  }

  /** Returns the sum of the values of the rows [from, to). */
  long sum(long from, long to) {
    long sum = 0;
    long first = 0;
    for (Piece piece : pieces) {
      long end = Math.min(to - first, piece.rows());
      for (long position = Math.max(0, from - first); position < end; position++) {
        sum += value(piece.content(), position);
      }
      first += piece.rows();
    }
    return sum;
  }
}
