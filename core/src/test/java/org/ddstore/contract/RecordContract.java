// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.ShardWriter;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** Records of several fields, fixed and ragged, whole and projected. */
interface RecordContract extends Contract {
  @Test
  default void readsWholeRecords() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable records = Records.add(store, rank, 5);
          assertThat(records.schema()).isEqualTo(Schema.of(Records.FIELDS));
          long[] indices = Rows.shuffledTwice(Rows.first(rank.ranks()), 2);
          try (Batch batch = store.getBatch("records", indices)) {
            for (int f = 0; f < Records.FIELDS.size(); f++) {
              Records.assertField(batch, f, 5, indices);
            }
          }
          try (Batch none = store.getBatch("records")) {
            for (int f = 0; f < Records.FIELDS.size(); f++) {
              Records.assertField(none, f, 5);
            }
          }
        });
  }

  @Test
  default void readsChosenFieldsInAnyOrder() throws Exception {
    long seed = Rows.seed("readsChosenFieldsInAnyOrder");
    runWithStore(
        (rank, store) -> {
          Variable records = Records.add(store, rank, 6);
          Random random = new Random(seed + rank.rank());
          for (int trial = 0; trial < 60; trial++) {
            int[] chosen =
                random.ints(0, Records.FIELDS.size()).distinct().limit(1 + trial % 8).toArray();
            String[] names =
                Arrays.stream(chosen)
                    .mapToObj(f -> Records.FIELDS.get(f).name())
                    .toArray(String[]::new);
            long[] indices = random.longs(random.nextInt(30), 0, records.rows()).toArray();
            try (Reader reader = records.reader(names);
                Batch batch = reader.getBatch(indices)) {
              for (int f : chosen) {
                Records.assertField(batch, f, 6, indices);
              }
              for (Field field : Records.FIELDS) {
                if (!Arrays.asList(names).contains(field.name())) {
                  assertThatThrownBy(() -> batch.field(field.name()))
                      .isInstanceOf(IllegalArgumentException.class)
                      .hasMessageStartingWith(
                          "field \"%s\" is not read by this reader, whose fields are ["
                              .formatted(field.name()));
                }
              }
            }
          }
          assertThatThrownBy(() -> records.reader("text", "text").close())
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessage("field \"text\" is named twice");
        });
  }

  /** A mean tells nothing of them: the last rows have nearly all bytes. */
  @Test
  default void readsAndCopiesRowsOfVeryDifferentSizes() throws Exception {
    int small = 30_000;
    int large = 40;
    int largeBytes = 1 << 20;
    run(
        rank -> {
          try (DDStore store = rank.open();
              ShardWriter copy = ShardWriter.create(skewed(), rank.options())) {
            ShardWriter shard = ShardWriter.create(skewed(), rank.options());
            if (rank.rank() == rank.ranks() - 1) {
              for (int row = 0; row < small + large; row++) {
                shard.append(row, skewed(row, row < small ? row % 3 : largeBytes));
              }
            }
            Variable rows = store.add("skewed", shard);
            copy.appendRowsOf(rows, 0, rows.rows());
            assertThat(copy.rows()).isEqualTo(rows.rows());
            assertThat(copy.bytes()).isGreaterThan((long) large * largeBytes);
            int[] ids = new int[Math.toIntExact(rows.rows())];
            try (Reader reader = rows.reader("id")) {
              reader.getBatch(Tensor.wrap(ids), LongStream.range(0, rows.rows()).toArray());
            }
            assertThat(ids).isEqualTo(IntStream.range(0, ids.length).toArray());
            try (Reader reader = rows.reader();
                Batch batch = reader.getBatch()) {
              long[] last = LongStream.range(small - 10, rows.rows()).toArray();
              int count = reader.getBatchWithin(batch, 8 * (largeBytes + 8) + 100, last);
              assertThat(count).isEqualTo(18);
              assertThat(batch.rows()).isEqualTo(18);
              for (int i = 0; i < count; i++) {
                int row = (int) last[i];
                assertThat(batch.field("id").getLong(i)).isEqualTo(row);
                assertThat(batch.bytes("data", i))
                    .isEqualTo(skewed(row, row < small ? row % 3 : largeBytes));
              }
              assertThat(reader.getBatchWithin(batch, 1000, small, small + 1)).isEqualTo(1);
              assertThat(reader.getBatchWithin(batch, 1000)).isZero();
            }
            rank.meet();
          }
        });
  }

  private static Schema skewed() {
    return Schema.of(Field.fixed("id", DType.INT32), Field.bytes("data"));
  }

  private static byte[] skewed(int row, int bytes) {
    byte[] data = new byte[bytes];
    Arrays.fill(data, (byte) (row * 31));
    return data;
  }

  @Test
  default void readsAFixedFieldOfRaggedRecordsIntoATensor() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable records = Records.add(store, rank, 7);
          long[] indices = Rows.shuffledTwice(Rows.first(rank.ranks()), 9);
          int[] labels = new int[indices.length];
          int[] run = new int[Math.toIntExact(records.rows())];
          try (Reader reader = records.reader("label");
              Reader ragged = records.reader("ids");
              Reader all = records.reader()) {
            reader.getBatch(Tensor.wrap(labels), indices);
            reader.get(Tensor.wrap(run), 0);
            for (Reader refused : new Reader[] {ragged, all}) {
              assertThatThrownBy(() -> refused.get(Tensor.wrap(run), 0))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("a tensor holds one fixed field");
            }
          }
          for (int i = 0; i < indices.length; i++) {
            assertThat(labels[i]).isEqualTo(Records.values(7, indices[i])[0]);
          }
          for (int i = 0; i < run.length; i++) {
            assertThat(run[i]).isEqualTo(Records.values(7, i)[0]);
          }
        });
  }

  @Test
  default void rejectsWrongValuesNamingRowAndField() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open();
              ShardWriter shard = ShardWriter.create(Schema.of(Records.FIELDS), rank.options())) {
            shard.append(Records.values(8, rank.rank()));
            for (int f = 0; f < Records.FIELDS.size(); f++) {
              Object[] wrong = Records.values(8, 1);
              wrong[f] = f == 3 ? (Object) 5 : "no";
              String field = Records.FIELDS.get(f).toString();
              assertThatThrownBy(() -> shard.append(wrong))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageStartingWith("row 1, field " + field + ": ");
            }
            store.add("records", shard);
            long[] indices = LongStream.range(0, rank.ranks()).toArray();
            try (Batch batch = store.getBatch("records", indices)) {
              for (int f = 0; f < Records.FIELDS.size(); f++) {
                Records.assertField(batch, f, 8, indices);
              }
            }
            assertThatThrownBy(() -> store.update("records", Tensor.wrap(new int[1]), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot replace rows of");
          }
        });
  }
}
