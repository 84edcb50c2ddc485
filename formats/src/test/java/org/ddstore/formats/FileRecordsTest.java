// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.types.FieldMetadata;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files as rows, and as records of a function, come in the order of their paths. */
class FileRecordsTest {
  private static final int FILES = 45;

  private static final StructType RECORDS =
      new StructType()
          .add("name", DataTypes.StringType)
          .add(
              "numbers",
              DataTypes.createArrayType(DataTypes.IntegerType, false),
              false,
              FieldMetadata.of(Field.fixed("numbers", DType.INT32, 3)))
          .add("bytes", DataTypes.LongType, false);

  /** Calls of the function by all threads of this JVM. */
  private static final AtomicInteger CALLS = new AtomicInteger();

  @TempDir static Path folder;

  private static final List<String> names = new ArrayList<>();

  /** Files of {@code i, i + 1, i + 2}, in two folders, below and above in the order of bytes. */
  @BeforeAll
  static void write() throws IOException {
    for (int i = 0; i < FILES; i++) {
      String name = (i < 20 ? "A/%03d.txt" : "é b/%03d.txt").formatted(i);
      names.add(name);
      Path file = folder.resolve("data").resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, "%d %d %d".formatted(i, i + 1, i + 2));
    }
    Files.writeString(folder.resolve("data/A/_SUCCESS"), "");
    Files.writeString(folder.resolve("data/A/notes.md"), "notes");
    Files.writeString(folder.resolve("data/empty.bin"), "");
  }

  private static Row parse(String path, byte[] bytes) {
    CALLS.incrementAndGet();
    String[] parts = new String(bytes, UTF_8).split(" ", -1);
    int[] numbers = {
      Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2])
    };
    return RowFactory.create(path, numbers, (long) bytes.length);
  }

  private static Dataset<Row> records(FileFunction function) {
    return FileRecords.read(
        FormatSpark.session(),
        List.of(folder.resolve("data/*/*.txt").toString()),
        RECORDS,
        function);
  }

  @Test
  void readsFilesOfASuffixInPathOrder() throws IOException {
    Dataset<Row> files = FormatSpark.read("files", folder.resolve("data"), "suffix", ".TXT, .bin");

    List<Row> rows = files.collectAsList();

    List<String> expected = new ArrayList<>(names);
    expected.add(20, "empty.bin");
    assertThat(rows).extracting(row -> row.getString(0)).isEqualTo(expected);
    for (Row row : rows) {
      byte[] content = Files.readAllBytes(folder.resolve("data").resolve(row.getString(0)));
      assertThat((byte[]) row.get(1)).isEqualTo(content);
      assertThat(row.getLong(2)).isEqualTo(content.length);
    }
    StoredRecords.ofAnyRanks(files);
  }

  @Test
  void dividesLargeFilesIntoPartitions() throws IOException {
    Path large = Files.createDirectories(folder.resolve("large"));
    for (int i = 0; i < 8; i++) {
      Files.write(large.resolve(i + ".bin"), new byte[1000]);
    }

    Dataset<Row> files = FormatSpark.read("files", large, "partitionBytes", "2500");

    assertThat(files.javaRDD().getNumPartitions()).isEqualTo(4);
  }

  @Test
  void callsTheFunctionOncePerFileInPathOrder() {
    Dataset<Row> records = records(FileRecordsTest::parse);
    CALLS.set(0);
    assertThat(records.count()).isEqualTo(FILES);
    assertThat(CALLS).hasValue(0);

    List<Row> rows = records.collectAsList();

    assertThat(CALLS).hasValue(FILES);
    assertThat(rows).extracting(row -> row.getString(0)).isEqualTo(names);
    for (int i = 0; i < FILES; i++) {
      assertThat(rows.get(i).getList(1)).isEqualTo(List.of(i, i + 1, i + 2));
    }
  }

  @Test
  void givesTheSameRecordsToAnyNumberOfRanksWithoutAStoredCopy() {
    Dataset<Row> records = records(FileRecordsTest::parse);
    ByteBuffer expected =
        ByteBuffer.allocate(FILES * 3 * Integer.BYTES).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < FILES; i++) {
      expected.putInt(i).putInt(i + 1).putInt(i + 2);
    }

    StoredRecords one = StoredRecords.ofAnyRanks(records);

    assertThat(one.fields()).containsAllEntriesOf(Map.of("numbers", "int32[3]", "bytes", "int64"));
    assertThat(one.values().get("numbers")).isEqualTo(expected.array());
    assertThat(DDStores.from(records).ranks(2).explain().toString())
        .contains("unsafe rows, in partition order");
  }

  private static Row fail(String kind, String path) throws IOException {
    if (!path.endsWith("033.txt")) {
      return RowFactory.create(path, new int[3], 1L);
    }
    return switch (kind) {
      case "throws" -> throw new IOException("no header");
      case "null" -> null;
      case "short" -> RowFactory.create(path);
      case "type" -> RowFactory.create(path, new int[3], 1);
      default -> RowFactory.create(path, null, 1L);
    };
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "throws | the function failed: java.io.IOException: no header",
        "null   | the function returned null: return a record",
        "short  | the function returned 1 values, but the schema has 3 columns: [name, numbers,"
            + " bytes]",
        "type   | column bytes: the function returned Integer, but BIGINT needs Long",
        "lack   | column numbers: the function returned null, but the column is not nullable",
      })
  void namesTheFileOfAFailure(String kind, String message) {
    Dataset<Row> records = records((path, bytes) -> fail(kind, path));

    assertThatThrownBy(records::collect).hasStackTraceContaining("é b/033.txt: " + message);
    assertThatThrownBy(() -> StoredRecords.of(records, 2))
        .hasStackTraceContaining("é b/033.txt: " + message);
    assertThat(records(FileRecordsTest::parse).collectAsList()).hasSize(FILES);
  }

  @Test
  void refusesASchemaWithoutColumnsAndPathsWithoutFiles() {
    assertThatThrownBy(
            () ->
                FileRecords.read(
                    FormatSpark.session(),
                    List.of(folder.toString()),
                    new StructType(),
                    FileRecordsTest::parse))
        .hasMessageContaining("the schema has no column");
    assertThatThrownBy(
            () ->
                FileRecords.read(
                    FormatSpark.session(),
                    List.of(folder.resolve("absent").toString()),
                    RECORDS,
                    FileRecordsTest::parse))
        .hasMessageContaining("absent: no such file or directory");
  }
}
