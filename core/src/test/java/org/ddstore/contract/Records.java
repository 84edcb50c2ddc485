// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** Records of every kind of field that tests put in and expect, made of seed and index alone. */
final class Records {
  static final List<Field> FIELDS =
      List.of(
          Field.fixed("label", DType.INT32),
          Field.ragged("points", DType.FLOAT32, 3),
          Field.fixed("image", DType.UINT8, 2, 3),
          Field.string("text"),
          Field.bytes("blob"),
          Field.fixed("flag", DType.BOOL),
          Field.ragged("ids", DType.INT64),
          Field.ragged("halves", DType.FLOAT16, 2, 2));

  private static final List<String> TEXTS =
      List.of("", "a", "Zürich", "日本語", "😀 and \u0000 and \n", "x".repeat(5000));

  private Records() {}

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
      TEXTS.get(random.nextInt(TEXTS.size())),
      blob,
      random.nextBoolean(),
      random.longs(random.nextInt(4)).toArray(),
      halves
    };
  }

  private static byte[] bytes(Object value) {
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

  static Variable add(DDStore store, RankEnv rank, long seed) {
    ShardWriter shard = ShardWriter.create(Schema.of(FIELDS), rank.options());
    for (int i = Rows.first(rank.rank()); i < Rows.first(rank.rank() + 1); i++) {
      shard.append(values(seed, i));
    }
    assertThat(shard.rows()).isEqualTo(Rows.count(rank.rank()));
    return store.add("records", shard);
  }

  static void assertField(Batch batch, int field, long seed, long... indices) {
    Field expected = FIELDS.get(field);
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
}
