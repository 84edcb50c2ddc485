// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SchemaTest {
  private static final Schema MIXED =
      Schema.of(
          Field.fixed("a", DType.INT16),
          Field.ragged("r", DType.FLOAT32, 3),
          Field.fixed("b", DType.FLOAT64, 2, 2),
          Field.string("s"),
          Field.bytes("ü"));

  @Test
  void laysOutFixedFieldsThenLengthsThenData() {
    assertThat(MIXED.fixedBytes()).isEqualTo(2 + 32);
    assertThat(MIXED.fixedOffset(0)).isZero();
    assertThat(MIXED.fixedOffset(2)).isEqualTo(2);
    assertThat(MIXED.lengthOffset(1)).isEqualTo(34);
    assertThat(MIXED.lengthOffset(3)).isEqualTo(38);
    assertThat(MIXED.lengthOffset(4)).isEqualTo(42);
    assertThat(MIXED.prefixBytes()).isEqualTo(46);
    assertThat(MIXED.raggedFields()).isEqualTo(3);
    assertThat(MIXED.isFixed()).isFalse();
    assertThatThrownBy(() -> MIXED.fixedOffset(1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MIXED.lengthOffset(0)).isInstanceOf(IllegalArgumentException.class);
    ByteBuffer record = ByteBuffer.allocate(50).order(ByteOrder.LITTLE_ENDIAN);
    record.putInt(2 + 34, 5).putInt(2 + 38, 7).putInt(2 + 42, 0);
    assertThat(MIXED.recordBytes(record, 2)).isEqualTo(46 + 5 * 12 + 7);
  }

  @Test
  void lengthsDoNotOverflow() {
    List<Field> fields =
        IntStream.range(0, 9)
            .mapToObj(i -> Field.ragged("f" + i, DType.UINT8, Schema.MAX_RECORD_BYTES))
            .toList();
    ByteBuffer record = ByteBuffer.allocate(9 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 9; i++) { // 2^64 bytes
      record.putInt(i < 8 ? Integer.MAX_VALUE : 8);
    }
    assertThat(Schema.of(fields).recordBytes(record, 0)).isGreaterThan(Schema.MAX_RECORD_BYTES);
  }

  /** The form that docs/segment-format.md gives, written here by another hand. */
  @Test
  void writesTheDocumentedBinaryForm() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(new byte[] {2, 0});
    out.write(new byte[] {1, 0, 'a', 1, 4, 0}); // name, fixed, int16, no dimensions
    out.write(new byte[] {2, 0, 'p', 'q', 2, 9, 1, 3, 0, 0, 0}); // ragged float32[?, 3]
    Schema schema = Schema.of(Field.fixed("a", DType.INT16), Field.ragged("pq", DType.FLOAT32, 3));
    assertThat(schema.toBytes()).isEqualTo(bytes.toByteArray());
  }

  @Test
  void parseRestoresAWrittenSchema() {
    Schema every =
        Schema.of(
            Arrays.stream(DType.values())
                .flatMap(
                    t ->
                        IntStream.range(0, 9)
                            .mapToObj(
                                d -> {
                                  int[] shape = new int[d];
                                  Arrays.fill(shape, 2);
                                  return d % 2 == 0
                                      ? Field.fixed(t + "-" + d, t, shape)
                                      : Field.ragged(t + "-" + d, t, shape);
                                }))
                .toList());
    for (Schema schema : new Schema[] {MIXED, every}) {
      Schema parsed = parse(schema.toBytes());
      assertThat(parsed).isEqualTo(schema).hasSameHashCodeAs(schema);
      assertThat(parsed).hasToString(schema.toString());
    }
    assertThat(MIXED)
        .hasToString("Schema[a: int16, r: float32[?, 3], b: float64[2, 2], s: string, ü: bytes]");
  }

  @Test
  void rejectsEveryPrefix() {
    byte[] bytes = MIXED.toBytes();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> parse(cut))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the schema ends too early");
    }
  }

  @Test
  void parsesOrRejectsAnyBytes() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = MIXED.toBytes();
      for (int k = random.nextInt(4); k >= 0; k--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      try {
        Schema parsed = parse(bytes);
        assertThat(parse(parsed.toBytes())).as("seed %d", seed).isEqualTo(parsed);
      } catch (IllegalArgumentException e) {
        assertThat(e).as("seed %d", seed).hasMessageNotContaining("null");
      }
    }
  }

  @Test
  void rejectsTextOfAnotherElementType() {
    byte[] text = Schema.of(Field.string("s")).toBytes();
    text[6] = 9; // float32
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"s\"");
  }

  @Test
  void rejectsInvalidFields() {
    assertThatThrownBy(() -> Schema.of()).hasMessage("a schema needs at least one field");
    assertThatThrownBy(() -> Schema.of(Field.string("x"), Field.bytes("x")))
        .hasMessage("two fields are named \"x\": [x string, x bytes]");
    assertThatThrownBy(() -> MIXED.field("z"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no field \"z\": choose one of " + MIXED.fields());
    assertThatThrownBy(() -> Field.fixed("", DType.BOOL))
        .hasMessage("a field name must not be empty");
    assertThatThrownBy(() -> Field.fixed("x", DType.BOOL, 2, 0))
        .hasMessage("field \"x\": dimension 0 of shape [2, 0] must be at least 1");
    assertThatThrownBy(() -> Field.fixed("x", DType.BOOL, 1, 1, 1, 1, 1, 1, 1, 1, 1))
        .hasMessage("field \"x\": 9 dimensions outside [0, 8]");
    assertThatThrownBy(() -> Field.fixed("x", DType.INT64, 1 << 14, 1 << 14))
        .hasMessageContaining("the limit is 1 GiB");
    assertThatThrownBy(() -> Field.string("x".repeat(70_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("70,000 bytes");
    assertThatThrownBy(
            () -> Schema.of(Field.fixed("x", DType.UINT8, 1 << 30), Field.fixed("y", DType.UINT8)))
        .hasMessageContaining("1,073,741,825 bytes or more; the limit is 1 GiB");
  }

  private static Schema parse(byte[] bytes) {
    return Schema.parse(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
  }
}
