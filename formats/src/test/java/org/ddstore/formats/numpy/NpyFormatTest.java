// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Python;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays that NumPy wrote are read as NumPy reads them. */
class NpyFormatTest {
  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import numpy as np, os
        rng = np.random.default_rng(7)
        for name in ['bool','int8','uint8','int16','uint16','int32','uint32','int64','uint64',
                     'float16','float32','float64','complex64','complex128']:
            t = np.dtype(name)
            bits = rng.integers(0, 256, 17 * 3 * 4 * t.itemsize, dtype=np.uint8)
            if t.kind == 'b': bits = bits % 2
            a = bits.view(t).reshape(17, 3, 4)
            if name == 'uint64': a = a >> np.uint64(1)
            if t.kind in 'fc': a = np.nan_to_num(a)
            stored = {'uint16': '<i4', 'uint32': '<i8', 'uint64': '<i8', 'float16': '<f4'}.get(name, t.newbyteorder('<'))
            for order, swap in [('C', '<'), ('F', '<'), ('C', '>'), ('F', '>')]:
                kind = 'c' if order == 'C' else 'f'
                path = '%s_%s_%s' % (name, kind, 'le' if swap == '<' else 'be')
                np.save(path + '.npy', np.array(a, dtype=t.newbyteorder(swap), order=order))
                a.astype(stored).tofile(path + '.bin')
        os.mkdir('parts')
        for i, name in enumerate(['b', 'a', 'z', 'Z']):
            np.save('parts/%s.npy' % name, np.arange(i * 1000, i * 1000 + 5 + i, dtype=np.int64))
        os.mkdir('mixed')
        np.save('mixed/a.npy', np.zeros((4, 3), np.float32)); np.save('mixed/b.npy', np.zeros((4, 2), np.float32))
        np.save('scalar.npy', np.float32(1)); np.save('object.npy', np.array([1, 'a'], dtype=object))
        np.save('struct.npy', np.zeros(3, dtype=[('x', 'f4')])); np.save('text.npy', np.array(['a']))
        np.save('empty.npy', np.zeros((0, 3), np.float32)); np.save('big.npy', np.array([2**63], np.uint64))
        np.save('hollow.npy', np.zeros((3, 0), np.float32))
        """);
  }

  private static Dataset<Row> read(String path, String... options) {
    return FormatSpark.read("npy", folder.resolve(path), options);
  }

  @ParameterizedTest
  @CsvSource({
    "bool, bool",
    "int8, int8",
    "uint8, uint8",
    "int16, int16",
    "uint16, int32",
    "int32, int32",
    "uint32, int64",
    "int64, int64",
    "uint64, int64",
    "float16, float32",
    "float32, float32",
    "float64, float64",
    "complex64, 'float32'",
    "complex128, 'float64'"
  })
  void readsTheBytesOfNumPy(String dtype, String stored) throws IOException {
    for (String kind : List.of("c_le", "f_le", "c_be", "f_be")) {
      String file = dtype + "_" + kind;

      StoredRecords records = StoredRecords.of(read(file + ".npy"), 2);

      String shape = dtype.startsWith("complex") ? "[3, 4, 2]" : "[3, 4]";
      assertThat(records.fields()).as(file).containsEntry("value", stored + shape);
      assertThat(records.values().get("value"))
          .as(file)
          .isEqualTo(Files.readAllBytes(folder.resolve(file + ".bin")));
    }
  }

  private static List<Object> column(Dataset<Row> rows) {
    return rows.collectAsList().stream().map(row -> row.get(0)).toList();
  }

  @Test
  void ordersFilesByPathAndRowsByIndexForAnyNumberOfRanks() {
    List<Object> expected = new ArrayList<>();
    for (long start : new long[] {3000, 1000, 0, 2000}) { // Z, a, b, z
      for (int i = 0; i < 5 + start / 1000; i++) {
        expected.add(start + i);
      }
    }

    assertThat(column(read("parts"))).isEqualTo(expected);
    LongBuffer longs = StoredRecords.ofAnyRanks(read("parts")).buffer("value").asLongBuffer();
    assertThat(expected).allSatisfy(value -> assertThat(longs.get()).isEqualTo(value));
    Dataset<Row> small = read("parts", "partitionBytes", "1024");
    assertThat(StoredRecords.of(small.where("value % 3 = 0"), 3))
        .isEqualTo(StoredRecords.of(read("parts").where("value % 3 = 0"), 1));
  }

  @Test
  void tellsFileAndIndexOfEachRow() {
    List<Row> rows =
        read("parts").select("_metadata.file_name", "_metadata.row_index", "value").collectAsList();

    assertThat(rows.subList(7, 9).stream().map(Row::toString)) // 8 rows of Z, then a
        .containsExactly("[Z.npy,7,3007]", "[a.npy,0,1000]");
    assertThat(read("parts").select("_metadata.file_path").first().getString(0))
        .startsWith("file:/")
        .endsWith("parts/Z.npy");
    assertThat(read("parts").where("_metadata.row_index >= 7").count()).isEqualTo(1);
  }

  @Test
  void namesTheColumnByAnOption() {
    Dataset<Row> rows = read("uint8_c_le.npy", "column", "image");

    assertThat(StoredRecords.of(rows, 1).fields())
        .containsExactly(Map.entry("image", "uint8[3, 4]"));
    assertThat(rows.schema().apply("image").dataType()).isEqualTo(DataTypes.BinaryType);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mixed      | b.npy: column value: is float32[2], but",
        "scalar.npy | shape: the array is one number and has no axis",
        "object.npy | dtype: \"|O\" is not supported",
        "text.npy   | dtype: \"<U1\" is not supported",
        "struct.npy | dtype: structured arrays are not supported",
        "hollow.npy | dimension 0 of float32[0] is outside [1,",
        "absent.npy | absent.npy: no such file or directory",
        "int8_*.xyz | int8_*.xyz: no such file or directory",
        "cut.npy    | cut.npy: truncated: the header declares 536 bytes, the file has 532",
        "foreign.npy| foreign.npy: not an array of NumPy",
        "void.npy   | void.npy: truncated",
        "minus.npy  | minus.npy: shape: [-17, 3, 4] is not the shape of an array",
        "nothing    | no file in",
      })
  void refusesWhatItCannotRead(String path, String message) throws IOException {
    Files.write(
        folder.resolve("cut.npy"),
        Arrays.copyOf(Files.readAllBytes(folder.resolve("int16_c_le.npy")), 532));
    Files.write(folder.resolve("foreign.npy"), "a text of more than twelve bytes".getBytes(UTF_8));
    Files.write(folder.resolve("void.npy"), new byte[0]);
    Files.writeString(
        folder.resolve("minus.npy"),
        Files.readString(folder.resolve("int8_c_le.npy"), ISO_8859_1)
            .replace("(17, 3, 4), ", "(-17, 3, 4),"),
        ISO_8859_1);
    Files.createDirectories(folder.resolve("nothing"));

    assertThatThrownBy(() -> read(path)).hasMessageContaining(message);
    assertThat(read("int8_c_le.npy").count()).isEqualTo(17);
  }

  @Test
  void namesTheFileOfAValueOutsideItsType() {
    assertThatThrownBy(() -> read("big.npy").collect())
        .hasStackTraceContaining(
            "big.npy: column value: uint64 value 9223372036854775808 is above the maximum of BIGINT");
    assertThatThrownBy(() -> StoredRecords.of(read("big.npy"), 2))
        .hasStackTraceContaining("big.npy: column value: uint64 value 9223372036854775808");
    assertThat(read("empty.npy").count()).isZero();
  }

  @Test
  void namesAFileThatVanishesOrChangesAfterThePlan() throws IOException {
    Path gone = Files.copy(folder.resolve("int8_c_le.npy"), folder.resolve("gone.npy"));
    Dataset<Row> planned = read("gone.npy");
    Files.write(gone, new byte[] {1}, StandardOpenOption.APPEND);
    assertThatThrownBy(planned::collect)
        .hasStackTraceContaining("gone.npy: had 332 bytes when it was listed, has 333 now");
    Files.delete(gone);
    assertThatThrownBy(planned::collect)
        .hasStackTraceContaining("gone.npy: the file is gone since it was listed");
    assertThat(read("int8_c_le.npy").count()).isEqualTo(17);
  }

  @ParameterizedTest
  @CsvSource({
    "colum, x, 'option \"colum\" is unknown to format \"npy\"; legal options: [column, columns,'",
    "columns, x, 'option \"columns\", \"x\": no such column: choose one of [value]'",
    "partitionBytes, 5, 'option \"partitionBytes\" is \"5\", not an integer in [1024, 1073741824]'"
  })
  void refusesIllegalOptions(String key, String value, String message) {
    assertThatThrownBy(() -> read("int8_c_le.npy", key, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private static Path withHeader(String name, String header, byte[] data) throws IOException {
    byte[] text = header.getBytes(ISO_8859_1);
    ByteBuffer file =
        ByteBuffer.allocate(12 + text.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
    file.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0}).putInt(text.length);
    return Files.write(folder.resolve(name), file.put(text).put(data).array());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L), }          \n",
        "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<i2\"}",
        " {\n 'fortran_order' : False ,\r\n 'shape' : ( 2 ,\n 3 , ) , u'descr' : u'i2' }\n\n",
        "{'descr': 'int16', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<h', 'fortran_order': False, 'shape': (2 L, 3\tL)}",
        "{'descr': '=i2', 'fortran_order': False, 'shape': (1, 1), 'shape': (2, 3)}",
      })
  void readsEachHeaderThatNumPyReads(String header) throws IOException {
    withHeader("header.npy", header, new byte[] {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0});

    assertThat(
            read("header.npy")
                .selectExpr("array_join(value, ',')")
                .as(Encoders.STRING())
                .collectAsList())
        .containsExactly("0,1,2", "3,4,5");
  }

  @ParameterizedTest
  @Timeout(60)
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'<f8' | False | (1152921504606846975,)      | shape: [1152921504606846975] is too large",
        "'<u1' | False | (9223372036854775679,)      | truncated: the header declares 9,223,372,0",
        "'<u1' | False | (99999999999999999999,)     | expected an integer below 2^63 at character",
        "'<f8' | False | (0, 4611686018427387904)    | a row has more than 2,147,483,647 elements",
        "'<f8' | False | (1 2,)                      | expected ',' or ')' at character",
        "'<f8' | False | (1~2,)                      | expected ',' or ')' at character",
        "'<f8' | False | (,)                         | expected an integer at character",
        "'<f8' | False | (1#)                        | the array has more than 64 dimensions",
        "'<f8' | False | (1,1,1,1,1,1,1,1,1,1)       | huge.npy: field \"value\": 9 dimensions",
        "'<f8' | Falsch| (1,)                        | expected True or False at character",
        "'<f8' | False | (1,), 'x': 1                | expected the keys descr, fortran_order and",
        "'<f8' | False | (1,)} {                     | expected the end at character",
        "'<f8  | False | (1,)                        | huge.npy: header: not a description",
        "[('x', '<f8')] | False | (1,)               | structured arrays are not supported",
        "''    | False | (1,)                        | dtype: \"\" is not supported",
        "'<u1' | False | (1, 2147483647)             | truncated: the header declares 2,147,483",
      })
  void refusesAHeaderInLinearTime(String type, String order, String shape, String message)
      throws IOException {
    String text =
        "{'descr': %s, 'fortran_order': %s, 'shape': %s}"
            .formatted(
                type,
                order,
                shape.replace("~", " ".repeat(500_000)).replace("#", ",1".repeat(300_000)));
    withHeader("huge.npy", text, new byte[8]);

    assertThatThrownBy(() -> read("huge.npy").count())
        .hasMessageContaining("huge.npy: ")
        .hasMessageContaining(message)
        .satisfies(e -> assertThat(e.getMessage().length()).isLessThan(500));
  }
}
