// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

class RecordPackerTest {
  @Test
  void laysOutFixedFieldsLengthsAndData() {
    Schema schema =
        Schema.of(
            Field.string("s"),
            Field.fixed("i", DType.INT32, 2),
            Field.ragged("r", DType.INT16, 2),
            Field.fixed("b", DType.BOOL));
    RecordPacker packer = new RecordPacker(schema);
    packer.pack(0, "a longer text before", new int[2], new short[80], false);
    ByteBuffer record = packer.pack(1, "hé", new int[] {7, -1}, new short[] {1, 2, 3, 4}, true);
    ByteBuffer expected = ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN);
    expected.putInt(7).putInt(-1).put((byte) 1);
    expected.putInt(3).putInt(2);
    expected.put("hé".getBytes(StandardCharsets.UTF_8));
    expected.putShort((short) 1).putShort((short) 2).putShort((short) 3).putShort((short) 4);
    assertThat(record).isEqualTo(expected.flip());
  }

  @Test
  void packsScalarsOfEveryType() {
    Object[][] values = {
      {DType.BOOL, true, new byte[] {1}},
      {DType.INT8, (byte) -2, new byte[] {-2}},
      {DType.UINT8, (byte) -2, new byte[] {-2}},
      {DType.UINT8, 254, new byte[] {-2}},
      {DType.INT16, (short) 258, new byte[] {2, 1}},
      {DType.FLOAT16, (short) 258, new byte[] {2, 1}},
      {DType.BFLOAT16, (short) 258, new byte[] {2, 1}},
      {DType.INT32, 1, new byte[] {1, 0, 0, 0}},
      {DType.INT64, 1L, new byte[] {1, 0, 0, 0, 0, 0, 0, 0}},
      {DType.FLOAT32, 1f, new byte[] {0, 0, -128, 63}},
      {DType.FLOAT64, 1d, new byte[] {0, 0, 0, 0, 0, 0, -16, 63}}
    };
    for (Object[] row : values) {
      Schema schema = Schema.of(Field.fixed("x", (DType) row[0]));
      ByteBuffer record = new RecordPacker(schema).pack(0, row[1]);
      assertThat(record).isEqualTo(ByteBuffer.wrap((byte[]) row[2]));
    }
  }

  @Test
  void errorsNameRowFieldAndValue() {
    refuse(Field.fixed("x", DType.FLOAT32), 5, "row 1,234, field x float32: [5] (Integer) does");
    refuse(Field.fixed("x", DType.FLOAT32), null, "row 1,234, field x float32: null does not fit");
    refuse(Field.fixed("x", DType.INT32, 2), new long[2], "field x int32[2]: long[] does not fit");
    refuse(Field.fixed("x", DType.INT32, 2), new int[3], "x int32[2]: 3 elements instead of 2");
    refuse(Field.fixed("x", DType.UINT8), 256, "field x uint8: [256] (Integer) does not fit");
    refuse(Field.fixed("x", DType.UINT8), -1, "field x uint8: [-1] (Integer) does not fit");
    refuse(Field.fixed("x", DType.BOOL), 1, "field x bool: [1] (Integer) does not fit");
    refuse(Field.fixed("x", DType.INT64), true, "field x int64: [true] (Boolean) does not fit");
    refuse(Field.ragged("x", DType.INT8, 3), new byte[7], "7 elements are not a multiple of 3");
    refuse(Field.string("x"), new byte[1], "field x string: byte[] does not fit");
    refuse(Field.bytes("x"), "text", "field x bytes: [text] (String) does not fit");
    refuse(Field.ragged("x", DType.INT32), List.of(1), "x int32[?]: [[1]] (");
    refuse(Field.fixed("x", DType.INT32), new Object[1], "x int32: Object[] does not fit");
  }

  private static void refuse(Field field, Object value, String message) {
    RecordPacker packer = new RecordPacker(Schema.of(field));
    assertThatThrownBy(() -> packer.pack(1234, new Object[] {value}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message)
        .hasMessageStartingWith("row 1,234, field x ");
  }

  @Test
  void checksTheNumberOfValues() {
    RecordPacker packer = new RecordPacker(Schema.of(Field.string("a"), Field.string("b")));
    assertThatThrownBy(() -> packer.pack(3, "one"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("row 3 has 1 values for 2 fields Schema[a: string, b: string]");
  }

  @Test
  void rejectsMalformedUnicode() {
    RecordPacker packer = new RecordPacker(Schema.of(Field.string("a")));
    assertThatThrownBy(() -> packer.pack(3, "half a pair: \uD83D"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("row 3, field a string");
  }
}
