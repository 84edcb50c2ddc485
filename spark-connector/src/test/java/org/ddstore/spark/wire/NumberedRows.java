// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.contract.RankEnv;
import org.ddstore.loader.LoadedBatch;

/** Rows of which each word is made of its place and the row's index: each rank brings as many. */
public final class NumberedRows {
  public static final String NAME = "x";
  public static final int PER_RANK = 256;
  public static final int ELEMENTS = 1024;
  public static final int ROW_BYTES = ELEMENTS * Long.BYTES;

  private static final long MIX = 0x9E3779B97F4A7C15L;

  private NumberedRows() {}

  /** Adds the rows of this rank. Collective. */
  public static Variable add(DDStore store) {
    long[] values = new long[PER_RANK * ELEMENTS];
    for (int i = 0; i < values.length; i++) {
      values[i] = word((long) store.rank() * PER_RANK + i / ELEMENTS, i % ELEMENTS);
    }
    return store.add(NAME, Tensor.wrap(values, PER_RANK, ELEMENTS));
  }

  /** Opens a store with the rows and closes it. Collective. */
  public static void openStore(RankEnv rank) throws IOException {
    try (DDStore store = rank.open()) {
      add(store);
    }
  }

  private static long word(long row, int place) {
    return (row * ELEMENTS + place) * MIX;
  }

  /** Some rows of a rank, in any order. */
  public static long[] some(int rank, int count, long seed) {
    return new Random(seed)
        .longs(count, (long) rank * PER_RANK, (long) (rank + 1) * PER_RANK)
        .toArray();
  }

  /** All rows of a rank. */
  public static long[] all(int rank) {
    return LongStream.range((long) rank * PER_RANK, (long) (rank + 1) * PER_RANK).toArray();
  }

  /** Reads rows and compares every word. */
  public static void check(Reader reader, long... indices) {
    try (Batch batch = reader.getBatch(indices)) {
      check(batch, indices);
    }
  }

  public static void check(Batch batch, long... indices) {
    check(batch.field(NAME).toLongArray(), indices);
  }

  /** Compares every word of a batch with those of the rows that it says it has. */
  public static void check(LoadedBatch batch) {
    long[] indices = new long[batch.rows()];
    Arrays.setAll(indices, batch::row);
    check(batch.field(NAME).toLongArray(), indices);
  }

  private static void check(long[] got, long... indices) {
    for (int i = 0; i < got.length; i++) {
      if (got[i] != word(indices[i / ELEMENTS], i % ELEMENTS)) {
        assertThat(got[i])
            .as("word %d of row %d, number %d", i % ELEMENTS, indices[i / ELEMENTS], i / ELEMENTS)
            .isEqualTo(word(indices[i / ELEMENTS], i % ELEMENTS));
      }
    }
  }
}
