// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import java.util.SplittableRandom;
import org.ddstore.Batch;
import org.ddstore.Reader;

/** A checker that reads rows of a store and compares them with expected rows. Owns its batch. */
final class RowChecker implements AutoCloseable {
  private final Reader reader;
  private final ExpectedRows expected;
  private final BatchRows hasher;
  private final byte[] hash = new byte[RowHash.BYTES];
  private final Batch batch;
  private long rowsRead;
  private long mismatches;
  private long firstMismatch = -1;

  /**
   * @param reader reader of all fields
   */
  RowChecker(Reader reader, ExpectedRows expected, List<Leaf> leaves) {
    this.reader = reader;
    this.expected = expected;
    this.hasher = new BatchRows(reader.variable().schema(), leaves);
    this.batch = reader.getBatch();
  }

  /** Returns [0, size) in a random order that depends on the seed only, not on the rank. */
  static int[] shuffled(int size, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] numbers = new int[size];
    for (int i = 0; i < size; i++) {
      int other = random.nextInt(i + 1);
      numbers[i] = numbers[other];
      numbers[other] = i;
    }
    return numbers;
  }

  /** Reads rows in one call, given by their numbers among the expected rows, and compares them. */
  void check(int[] numbers, int from, int to) {
    long[] indices = new long[to - from];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = expected.index(numbers[from + i]);
    }
    reader.getBatch(batch, indices);
    compare(batch, numbers, from, indices);
  }

  /**
   * Compares the rows of a batch.
   *
   * @param numbers numbers of the rows among the expected rows, starting at {@code from}
   * @param indices global indices of the rows
   */
  void compare(Batch read, int[] numbers, int from, long... indices) {
    hasher.open(read);
    for (int i = 0; i < indices.length; i++) {
      hasher.hash(i, hash);
      if (!expected.matches(numbers[from + i], hash)) {
        mismatches++;
        firstMismatch = firstMismatch < 0 ? indices[i] : firstMismatch;
      }
    }
    rowsRead += indices.length;
  }

  long rowsRead() {
    return rowsRead;
  }

  long mismatches() {
    return mismatches;
  }

  /** Returns the global index of the first mismatch, or -1. */
  long firstMismatch() {
    return firstMismatch;
  }

  @Override
  public void close() {
    batch.close();
  }
}
