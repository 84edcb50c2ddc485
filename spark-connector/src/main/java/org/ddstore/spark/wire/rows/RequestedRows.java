// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Function;
import org.ddstore.layout.RowSpan;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;

/**
 * The rows that a {@link GatherRequest} names, in runs, with a reference to each of their segments.
 * Reused for many requests. Used by one thread.
 */
final class RequestedRows {
  private static final int FIRST_RUNS = 64;

  private Segment[] held = new Segment[1];
  private long[] versions = new long[1];
  private int segments;
  private int[] runSegment = new int[FIRST_RUNS];
  private long[] runRow = new long[FIRST_RUNS];
  private int[] runRows = new int[FIRST_RUNS];
  private int runs;
  private int rows;

  /**
   * Takes the rows of a request. {@link #release()} must follow, also after an exception.
   *
   * @param request request, positioned at the number of segments
   * @param find function that returns a segment with a new reference, or null
   * @return false if a segment is missing
   * @throws IllegalArgumentException if the request is out of range
   * @throws java.nio.BufferUnderflowException if the request is truncated
   */
  boolean decode(ByteBuffer request, Function<Nonce, Segment> find) {
    runs = 0;
    rows = 0;
    int count = request.getInt();
    int maxRuns = request.remaining() / (GatherRequest.SEGMENT_BYTES + Long.BYTES);
    if (count < 1 || count > maxRuns) {
      throw new IllegalArgumentException("a request for %,d segments".formatted(count));
    }
    if (held.length < count) {
      held = new Segment[count];
      versions = new long[count];
    }
    while (segments < count) {
      Segment segment = find.apply(Handshake.getStore(request));
      if (segment == null) {
        return false;
      }
      versions[segments] = segment.version();
      held[segments++] = segment;
      addRuns(request, segment);
    }
    if (request.hasRemaining()) {
      throw new IllegalArgumentException("request with " + request.remaining() + " excess bytes");
    }
    return true;
  }

  private void addRuns(ByteBuffer request, Segment segment) {
    int count = request.getInt();
    int rowsOfRuns = request.getInt();
    if (count < 1 || count > rowsOfRuns) {
      throw new IllegalArgumentException(
          "a request for %,d rows in %,d runs".formatted(rowsOfRuns, count));
    }
    if (rowsOfRuns > GatherRequest.MAX_ROWS - rows) {
      throw new IllegalArgumentException(
          "a request for more than %,d rows".formatted(GatherRequest.MAX_ROWS));
    }
    reserveRuns(runs + count);
    request.asLongBuffer().get(runRow, runs, count);
    request.position(request.position() + count * Long.BYTES);
    if (count == rowsOfRuns) {
      Arrays.fill(runRows, runs, runs + count, 1);
    } else {
      request.asIntBuffer().get(runRows, runs, count);
      request.position(request.position() + count * Integer.BYTES);
    }
    Arrays.fill(runSegment, runs, runs + count, segments - 1);
    checkRuns(count, rowsOfRuns, segment);
    runs += count;
    rows += rowsOfRuns;
  }

  private void reserveRuns(int count) {
    if (count > runRow.length) {
      int room = Math.max(count, 2 * runRow.length);
      runSegment = Arrays.copyOf(runSegment, room);
      runRow = Arrays.copyOf(runRow, room);
      runRows = Arrays.copyOf(runRows, room);
    }
  }

  /** Checks the runs that follow those of other segments. */
  private void checkRuns(int count, int rowsOfRuns, Segment segment) {
    long sum = 0;
    for (int r = runs; r < runs + count; r++) {
      if (runRow[r] < 0 || runRows[r] < 1 || runRow[r] > segment.rows() - runRows[r]) {
        throw new IllegalArgumentException(
            "a request for rows %s outside [0, %d)"
                .formatted(RowSpan.format(runRow[r], runRows[r]), segment.rows()));
      }
      sum += runRows[r];
    }
    if (sum != rowsOfRuns) {
      throw new IllegalArgumentException(
          "a request for %,d rows in runs of %,d rows".formatted(rowsOfRuns, sum));
    }
  }

  int segments() {
    return segments;
  }

  int runs() {
    return runs;
  }

  int rows() {
    return rows;
  }

  int rows(int run) {
    return runRows[run];
  }

  Segment segment(int run) {
    return held[runSegment[run]];
  }

  long row(int run, int i) {
    return runRow[run] + i;
  }

  int recordBytes(int run, int i) {
    return segment(run).recordBytes(row(run, i));
  }

  /**
   * Appends the end of a reply: the status, which tells whether a row has changed since {@link
   * #decode}, and the versions.
   */
  void putTail(ByteBuffer tail) {
    int statusAt = tail.position();
    tail.put(Status.OK);
    for (int s = 0; s < segments; s++) {
      if (!held[s].validate(versions[s])) {
        tail.put(statusAt, Status.CHANGING);
      }
      tail.putLong(versions[s]);
    }
  }

  void release() {
    for (int s = 0; s < segments; s++) {
      held[s].release();
      held[s] = null;
    }
    segments = 0;
  }
}
