// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.sampling.RowSubset;

/** The division of a variable's rows among ranks, each of which reads and sends its part. */
final class ColumnParts {
  private static final int PIECE_ROWS = 1 << 20;

  private final Communicator communicator;
  private final long[] bounds;

  /** Divides the rows by shards if the ranks hold all of them, otherwise into equal parts. */
  ColumnParts(Variable variable, Communicator communicator) {
    this.communicator = communicator;
    int ranks = communicator.size();
    long rows = variable.rows();
    this.bounds = new long[ranks + 1];
    for (int rank = 0; rank < ranks; rank++) {
      bounds[rank + 1] = bounds[rank] + variable.rowsOf(rank);
    }
    if (bounds[ranks] != rows) {
      for (int rank = 0; rank <= ranks; rank++) {
        bounds[rank] = rows / ranks * rank + rows % ranks * rank / ranks;
      }
    }
  }

  long first() {
    return bounds[communicator.rank()];
  }

  long end() {
    return bounds[communicator.rank() + 1];
  }

  int ranks() {
    return bounds.length - 1;
  }

  /** Work that writes the values of rows [first, end) to a buffer. */
  interface Encoder {
    void encode(long first, long end, ByteBuffer values);
  }

  /** Work that takes the values of rows from {@code first} on out of a buffer, up to its limit. */
  interface Decoder {
    void decode(long first, ByteBuffer values);
  }

  /** Exchanges the values of all rows, each of {@code valueBytes}, in rounds. Collective. */
  void exchange(String call, int valueBytes, Encoder encoder, Decoder decoder) {
    long largest = 0;
    for (int rank = 0; rank < ranks(); rank++) {
      largest = Math.max(largest, bounds[rank + 1] - bounds[rank]);
    }
    long done = 0;
    do {
      long from = Math.min(end(), first() + done);
      long to = Math.min(end(), from + PIECE_ROWS);
      byte[][] pieces =
          communicator.exchange(
              call,
              () -> {
                ByteBuffer values = ByteBuffer.allocate((int) (to - from) * valueBytes);
                encoder.encode(from, to, values);
                return values.array();
              });
      for (int rank = 0; rank < pieces.length; rank++) {
        decoder.decode(bounds[rank] + done, ByteBuffer.wrap(pieces[rank]));
      }
      done += PIECE_ROWS;
    } while (done < largest);
  }

  /**
   * Returns the rows whose bits are set.
   *
   * @param masks bits of the part of each rank, the lowest bit of a byte first
   */
  RowSubset subset(byte[][] masks) {
    int[] rank = {0}; // rows come in ascending order
    return RowSubset.matching(
        bounds[ranks()],
        row -> {
          while (row >= bounds[rank[0] + 1]) {
            rank[0]++;
          }
          long bit = row - bounds[rank[0]];
          byte bits = masks[rank[0]][(int) (bit / Byte.SIZE)];
          return (bits & (1 << (bit % Byte.SIZE))) != 0;
        });
  }
}
