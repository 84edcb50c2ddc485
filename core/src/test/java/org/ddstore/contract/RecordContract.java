package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.DType;
import org.ddstore.Field;
import org.ddstore.Reader;
import org.ddstore.Schema;
import org.ddstore.ShardWriter;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.junit.jupiter.api.Test;

/** Records of several fields, fixed and ragged, whole and projected. */
interface RecordContract extends Contract {
  Field[] FIELDS = {
    Field.fixed("label", DType.INT32),
    Field.ragged("points", DType.FLOAT32, 3),
    Field.fixed("image", DType.UINT8, 2, 3),
    Field.string("text"),
    Field.bytes("blob"),
    Field.fixed("flag", DType.BOOL),
    Field.ragged("ids", DType.INT64),
    Field.ragged("halves", DType.FLOAT16, 2, 2)
  };

  String[] TEXTS = {"", "a", "Zürich", "日本語", "😀 and \u0000 and \n", "x".repeat(5000)};

  /** The values of a row, as a user has them. */
  static Object[] values(long seed, long index) {
    Random random = new Random(seed + 7919 * index);
    byte[] image = new byte[6];
    random.nextBytes(image);
    float[] points = new float[3 * random.nextInt(5)];
    for (int i = 0; i < points.length; i++) {
      points[i] = random.nextFloat();
    }
    byte[] blob = new byte[random.nextInt(3) * random.nextInt(100)];
    random.nextBytes(blob);
    short[] halves = new short[4 * random.nextInt(3)];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = (short) random.nextInt();
    }
    return new Object[] {
      random.nextInt(),
      points,
      image,
      TEXTS[random.nextInt(TEXTS.length)],
      blob,
      random.nextBoolean(),
      random.longs(random.nextInt(4)).toArray(),
      halves
    };
  }

  /** The little-endian bytes of a value. */
  static byte[] bytes(Object value) {
    if (value instanceof byte[] bytes) {
      return bytes;
    }
    if (value instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    if (value instanceof Boolean flag) {
      return new byte[] {(byte) (flag ? 1 : 0)};
    }
    ByteBuffer out = ByteBuffer.allocate(100_000).order(ByteOrder.LITTLE_ENDIAN);
    if (value instanceof Integer number) {
      out.putInt(number);
    } else if (value instanceof float[] floats) {
      for (float number : floats) {
        out.putFloat(number);
      }
    } else if (value instanceof long[] longs) {
      for (long number : longs) {
        out.putLong(number);
      }
    } else {
      for (short number : (short[]) value) {
        out.putShort(number);
      }
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  static Variable addRecords(DDStore store, RankEnv rank, long seed) {
    ShardWriter shard = ShardWriter.create(Schema.of(FIELDS), rank.options());
    for (int i = Rows.first(rank.rank()); i < Rows.first(rank.rank() + 1); i++) {
      shard.append(values(seed, i));
    }
    assertThat(shard.rows()).isEqualTo(Rows.count(rank.rank()));
    return store.add("records", shard);
  }

  /** Compares one field of a batch with the values of these rows. */
  static void assertField(Batch batch, int field, long seed, long... indices) {
    Field expected = FIELDS[field];
    String name = expected.name();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    long[] offsets = new long[indices.length + 1];
    for (int i = 0; i < indices.length; i++) {
      byte[] bytes = bytes(values(seed, indices[i])[field]);
      all.writeBytes(bytes);
      offsets[i + 1] = offsets[i] + bytes.length / expected.bytes();
      if (expected.isRagged()) {
        assertThat(batch.bytes(name, i)).as(name).isEqualTo(bytes);
      }
      if (expected.kind() == Field.Kind.STRING) {
        assertThat(batch.string(name, i)).isEqualTo(values(seed, indices[i])[field]);
      }
    }
    assertThat(batch.field(name).toByteArray()).as(name).isEqualTo(all.toByteArray());
    assertThat(batch.field(name).asByteBuffer().alignmentOffset(0, 256)).isZero();
    if (expected.isRagged()) {
      assertThat(batch.offsets(name).toLongArray()).as(name).isEqualTo(offsets);
      assertThat(batch.field(name).shape()[0]).isEqualTo(offsets[indices.length]);
    } else {
      assertThat(batch.field(name).shape()).startsWith(indices.length);
    }
  }

  @Test
  default void wholeRecords() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open()) {
            Variable records = addRecords(store, rank, 5);
            assertThat(records.schema()).isEqualTo(Schema.of(FIELDS));
            long[] indices = Rows.shuffledTwice(Rows.first(rank.ranks()), 2);
            try (Batch batch = store.getBatch("records", indices)) {
              for (int f = 0; f < FIELDS.length; f++) {
                assertField(batch, f, 5, indices);
              }
            }
            try (Batch none = store.getBatch("records")) {
              for (int f = 0; f < FIELDS.length; f++) {
                assertField(none, f, 5);
              }
            }
          }
        });
  }

  @Test
  default void chosenFieldsInAnyOrder() throws Exception {
    long seed = Rows.seed("chosenFieldsInAnyOrder");
    run(
        rank -> {
          try (DDStore store = rank.open()) {
            Variable records = addRecords(store, rank, 6);
            Random random = new Random(seed + rank.rank());
            for (int trial = 0; trial < 60; trial++) {
              int[] chosen =
                  random.ints(0, FIELDS.length).distinct().limit(1 + trial % 8).toArray();
              String[] names =
                  Arrays.stream(chosen).mapToObj(f -> FIELDS[f].name()).toArray(String[]::new);
              long[] indices = random.longs(random.nextInt(30), 0, records.rows()).toArray();
              try (Reader reader = records.reader(names);
                  Batch batch = reader.getBatch(indices)) {
                for (int f : chosen) {
                  assertField(batch, f, 6, indices);
                }
                for (Field field : FIELDS) {
                  if (!Arrays.asList(names).contains(field.name())) {
                    assertThatThrownBy(() -> batch.field(field.name()))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("was not chosen");
                  }
                }
              }
            }
            assertThatThrownBy(() -> records.reader("text", "text").close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("field \"text\" is named twice");
          }
        });
  }

  @Test
  default void aFixedFieldOfRaggedRecordsIntoATensor() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open()) {
            Variable records = addRecords(store, rank, 7);
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
              assertThat(labels[i]).isEqualTo(values(7, indices[i])[0]);
            }
            for (int i = 0; i < run.length; i++) {
              assertThat(run[i]).isEqualTo(values(7, i)[0]);
            }
          }
        });
  }

  @Test
  default void wrongValuesNameRowFieldAndValueAndAreNotWritten() throws Exception {
    run(
        rank -> {
          try (DDStore store = rank.open();
              ShardWriter shard = ShardWriter.create(Schema.of(FIELDS), rank.options())) {
            shard.append(values(8, rank.rank()));
            for (int f = 0; f < FIELDS.length; f++) {
              Object[] wrong = values(8, 1);
              wrong[f] = f == 3 ? (Object) 5 : "no";
              String field = FIELDS[f].toString();
              assertThatThrownBy(() -> shard.append(wrong))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageStartingWith("row 1, field " + field + ": ");
            }
            store.add("records", shard);
            long[] indices = LongStream.range(0, rank.ranks()).toArray();
            try (Batch batch = store.getBatch("records", indices)) {
              for (int f = 0; f < FIELDS.length; f++) {
                assertField(batch, f, 8, indices);
              }
            }
            assertThatThrownBy(() -> store.update("records", Tensor.wrap(new int[1]), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot replace rows of");
          }
        });
  }
}
