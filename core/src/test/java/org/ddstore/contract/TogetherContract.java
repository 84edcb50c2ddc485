// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.ReaderOptions;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;

/** Several batches as one read, and casts while rows are copied. */
interface TogetherContract extends Contract {
  int WIDE = 40_000;

  @Test
  default void readsSeveralBatchesTogether() throws Exception {
    long seed = Rows.seed("readsSeveralBatchesTogether");
    runWithStore(
        (rank, store) -> {
          Variable longs = Rows.addLongs(store, "x", 1);
          Variable records = Records.add(store, rank, 5);
          Random random = new Random(seed + rank.rank());
          for (int trial = 0; trial < 10; trial++) {
            List<long[]> indices = drawBatches(random, longs.rows());
            readTogether(longs, indices, TogetherContract::assertLongs);
            readTogether(records, indices, TogetherContract::assertRecords);
          }
          rank.meet();
        });
  }

  private static List<long[]> drawBatches(Random random, long rows) {
    List<long[]> indices = new ArrayList<>();
    for (int batch = random.nextInt(5); batch >= 0; batch--) {
      indices.add(random.longs(random.nextInt(3) * (long) random.nextInt(200), 0, rows).toArray());
    }
    return indices;
  }

  interface Check {
    void check(Batch batch, long... indices);
  }

  private static void readTogether(Variable variable, List<long[]> indices, Check check) {
    List<Reader> readers = new ArrayList<>();
    List<Batch> batches = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) { // each of a reader of its own, and used again
      readers.add(variable.reader());
      batches.add(readers.get(i).getBatch(0, 1));
    }
    readers.get(0).getBatches(batches, indices);
    for (int i = 0; i < indices.size(); i++) {
      check.check(batches.get(i), indices.get(i));
      assertThat(batches.get(i).rows()).isEqualTo(indices.get(i).length);
    }
    batches.forEach(Batch::close);
    readers.forEach(Reader::close);
  }

  private static void assertLongs(Batch batch, long... indices) {
    assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(1, indices));
  }

  private static void assertRecords(Batch batch, long... indices) {
    for (int field = 0; field < Records.FIELDS.size(); field++) {
      Records.assertField(batch, field, 5, indices);
    }
  }

  /** Rows of each process need memory on their way; a reader does not keep it for all of them. */
  @Test
  default void limitsWorkingMemoryAcrossProcesses() throws Exception {
    runWithStore(
        (rank, store) -> {
          int own = 500;
          int words = 100;
          long first = (long) own * rank.rank();
          Variable y = store.add("y", Rows.range(DType.INT64, 9, first, first + own, words));
          try (Reader reader = y.reader();
              Batch batch = reader.getBatch()) {
            for (int turn = 0; turn < 3 * rank.ranks(); turn++) {
              long from = (long) own * (turn % rank.ranks());
              reader.getBatch(batch, LongStream.range(from, from + own).toArray());
              assertThat(batch.field("y").toByteArray())
                  .isEqualTo(Rows.bytes(DType.INT64, 9, from, from + own, words));
              assertThat(reader.workingBytes()).isLessThan(5L * own * words * Long.BYTES / 2);
            }
          }
          rank.meet();
        });
  }

  @Test
  default void rejectsBatchesThatCannotBeReadTogether() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          Variable y = Rows.addLongs(store, "y", 2);
          try (Reader reader = x.reader();
              Reader other = y.reader();
              Batch mine = reader.getBatch(0);
              Batch another = reader.getBatch(1);
              Batch strange = other.getBatch(0)) {
            assertThatThrownBy(() -> reader.getBatches(List.of(mine), List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("batches: 1, index arrays: 0; the numbers must be equal");
            assertThatThrownBy(
                    () ->
                        reader.getBatches(
                            List.of(mine, strange), List.of(new long[] {0}, new long[] {1})))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                    "batch does not fit Reader[\"x\"]: another variable, fields or casts: Batch[");
            long rows = x.rows();
            assertThatThrownBy(
                    () ->
                        reader.getBatches(
                            List.of(mine, another), List.of(new long[] {5}, new long[] {rows})))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("row %d (number 0 of the batch) outside".formatted(rows));
            assertLongs(mine, 0); // nothing was read
          }
          rank.meet();
        });
  }

  @Test
  default void castsFieldsWhileCopying() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable wide = store.add("wide", Rows.own(DType.UINT8, 3, rank.rank(), WIDE));
          Variable records = Records.add(store, rank, 5);
          long[] indices = Rows.shuffledTwice((int) wide.rows(), 6);
          long[] many = new long[10 * indices.length];
          Arrays.setAll(many, i -> indices[i % indices.length]);
          Map<Long, byte[]> stored = new HashMap<>();
          for (long row : indices) {
            stored.put(row, Rows.bytes(DType.UINT8, 3, row, WIDE));
          }
          ReaderOptions floats = ReaderOptions.defaults().cast("wide", DType.FLOAT32, 1 / 255f);
          try (Reader reader = wide.reader(floats)) {
            for (long[] rows : List.of(indices, new long[0], new long[] {3}, many)) {
              try (Batch batch = reader.getBatch(rows)) {
                assertThat(batch.field("wide").dtype()).isEqualTo(DType.FLOAT32);
                assertThat(batch.field("wide").shape()).containsExactly(rows.length, WIDE);
                assertScaled(batch.field("wide"), stored, rows);
              }
            }
            assertTogether(reader, stored, indices, many);
          }
          castInRecords(records, indices);
          rank.meet();
        });
  }

  private static void assertTogether(
      Reader reader, Map<Long, byte[]> stored, long[] some, long[] many) {
    try (Batch first = reader.getBatch();
        Batch second = reader.getBatch()) {
      reader.getBatches(List.of(first, second), List.of(some, many));
      assertScaled(first.field("wide"), stored, some);
      assertScaled(second.field("wide"), stored, many);
    }
  }

  private static void assertScaled(Tensor tensor, Map<Long, byte[]> stored, long... rows) {
    for (int i = 0; i < rows.length; i++) {
      byte[] row = stored.get(rows[i]);
      for (int k = 0; k < WIDE; k += i == 0 ? 1 : 997) {
        float got = tensor.getFloat((long) i * WIDE + k);
        float expected = (row[k] & 0xFF) * (1 / 255f);
        if (got != expected) { // an assertThat for each element takes a second
          throw new AssertionError(
              "element %d of row %d: %s, expected %s".formatted(k, rows[i], got, expected));
        }
      }
    }
  }

  private static void castInRecords(Variable records, long... indices) {
    ReaderOptions options =
        ReaderOptions.defaults()
            .fields("text", "image", "label", "points")
            .cast("image", DType.BFLOAT16, 1)
            .cast("label", DType.FLOAT32, 0.5f);
    try (Reader reader = records.reader(options);
        Batch batch = reader.getBatch(indices)) {
      Records.assertField(batch, 3, 5, indices);
      Records.assertField(batch, 1, 5, indices);
      short[] image = batch.field("image").toShortArray();
      for (int i = 0; i < indices.length; i++) {
        Object[] values = Records.values(5, indices[i]);
        assertThat(batch.field("label").getFloat(i)).isEqualTo((Integer) values[0] * 0.5f);
        for (int k = 0; k < 6; k++) {
          float expected = ((byte[]) values[2])[k] & 0xFF; // exact in eight bits
          assertThat(Float.intBitsToFloat(image[6 * i + k] << 16)).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  default void rejectsInvalidCasts() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable records = Records.add(store, rank, 5);
          refused(records, ReaderOptions.defaults().cast("ids", DType.FLOAT32, 1), "ragged");
          refused(
              records,
              ReaderOptions.defaults().fields("label").cast("image", DType.FLOAT32, 1),
              "which is not read");
          refused(
              records,
              ReaderOptions.defaults().cast("flag", DType.FLOAT32, 1),
              "cannot cast bool to float32");
          refused(
              records,
              ReaderOptions.defaults().cast("label", DType.FLOAT32, Float.NaN),
              "scale NaN is not finite");
          try (Reader reader =
              records.reader(
                  ReaderOptions.defaults().fields("label").cast("label", DType.FLOAT32, 1))) {
            assertThatThrownBy(() -> reader.get(Tensor.wrap(new int[1], 1), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("with casts");
          }
          rank.meet();
        });
  }

  private static void refused(Variable variable, ReaderOptions options, String message) {
    assertThatThrownBy(() -> variable.reader(options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
