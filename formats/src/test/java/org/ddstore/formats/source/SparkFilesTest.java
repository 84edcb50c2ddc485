// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.GZIPOutputStream;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * CSV, JSON, ORC and Avro of Spark load in the order of file path and place, for any number of
 * ranks.
 */
class SparkFilesTest {
  private static final String SPLIT_BYTES = "spark.sql.files.maxPartitionBytes";
  private static final String OPEN_COST = "spark.sql.files.openCostInBytes";
  private static final String SCHEMA = "id BIGINT, text STRING, x DOUBLE";

  /** Names of the files in the order of their bytes, and the number of rows of each. */
  private static final List<String> NAMES = List.of("Z", "a b", "m", "z");

  private static final int[] ROWS = {200, 1, 350, 130};
  private static final long FIRST_ID = 5000;
  private static final long GAP = 13;

  @TempDir static Path folder;

  @BeforeAll
  static void write() throws IOException {
    SparkSession spark = FormatSpark.session();
    long first = FIRST_ID;
    for (int i = 0; i < NAMES.size(); i++) {
      long end = first + ROWS[i];
      String name = NAMES.get(i);
      String csv = lines(first, end, id -> "%d,row %d,%s".formatted(id, id, id / 4.0));
      save("csv/%s.csv".formatted(name), csv);
      save("header/%s.csv".formatted(name), "id,text,x\n" + csv);
      save("csvgzip/%s.csv.gz".formatted(name), csv);
      save(
          "quoted/%s.csv".formatted(name),
          lines(first, end, id -> "%d,\"row\n\"\"%d\"\"\",%s".formatted(id, id, id / 4.0)));
      String json = lines(first, end, SparkFilesTest::json);
      save("json/%s.json".formatted(name), json);
      save("jsongzip/%s.json.gz".formatted(name), json);
      save(
          "jsonarray/%s.json".formatted(name),
          LongStream.range(first, end)
              .mapToObj(SparkFilesTest::json)
              .collect(Collectors.joining(",\n", "[", "]\n")));
      save(
          "malformed/%s.csv".formatted(name),
          lines(first, end, id -> id % 7 == 0 ? "x" + id + ",,y" : "%d,,1".formatted(id)));
      save(
          "malformedjson/%s.json".formatted(name),
          lines(first, end, id -> id % 7 == 0 ? "{\"id\": " : json(id)));
      Dataset<Row> rows =
          spark
              .range(first, end)
              .selectExpr("id", "concat('row ', id) as text", "id / 4 as x")
              .coalesce(1);
      for (String format : List.of("orc", "avro")) {
        rows.write()
            .format(format)
            .option("orc.stripe.size", 1 << 10)
            .save(folder.resolve(format).resolve(name).toString());
      }
      first = end + GAP;
    }
  }

  private static String json(long id) {
    return "{\"id\": %d, \"text\": \"row %d\", \"x\": %s}".formatted(id, id, id / 4.0);
  }

  private static String lines(long first, long end, LongFunction<String> line) {
    return LongStream.range(first, end).mapToObj(line).collect(Collectors.joining("\n", "", "\n"));
  }

  private static void save(String path, String text) throws IOException {
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    try (OutputStream plain = Files.newOutputStream(file);
        OutputStream to = path.endsWith(".gz") ? new GZIPOutputStream(plain) : plain) {
      to.write(text.getBytes(UTF_8));
    }
  }

  /** Splits inside files, and several files in a partition. */
  @BeforeEach
  void splitFiles() {
    FormatSpark.session().conf().set(SPLIT_BYTES, "3000");
    FormatSpark.session().conf().set(OPEN_COST, "0");
  }

  @AfterEach
  void resetSettings() {
    FormatSpark.session().conf().unset(SPLIT_BYTES);
    FormatSpark.session().conf().unset(OPEN_COST);
  }

  private static Dataset<Row> read(String kind) {
    DataFrameReader reader =
        FormatSpark.session().read().schema(SCHEMA).option("recursiveFileLookup", "true");
    String path = folder.resolve(kind).toString();
    return switch (kind) {
      case "csv", "csvgzip" -> reader.csv(path);
      case "header" -> reader.option("header", "true").csv(path);
      case "quoted" -> reader.option("multiLine", "true").option("escape", "\"").csv(path);
      case "json", "jsongzip" -> reader.json(path);
      case "jsonarray" -> reader.option("multiLine", "true").json(path);
      case "malformed" -> reader.option("mode", "DROPMALFORMED").csv(path);
      case "malformedjson" -> reader.option("mode", "DROPMALFORMED").json(path);
      default -> reader.format(kind).load(path);
    };
  }

  private static List<Long> ids(long leftOutMultiples) {
    List<Long> ids = new ArrayList<>();
    long first = FIRST_ID;
    for (int rows : ROWS) {
      for (long id = first; id < first + rows; id++) {
        if (id % leftOutMultiples != 0) {
          ids.add(id);
        }
      }
      first += rows + GAP;
    }
    return ids;
  }

  private static List<Long> ids() {
    return ids(Long.MAX_VALUE);
  }

  private static List<Long> longs(StoredRecords records, String field) {
    LongBuffer values = records.buffer(field).asLongBuffer();
    List<Long> list = new ArrayList<>();
    while (values.hasRemaining()) {
      list.add(values.get());
    }
    return list;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "csv",
        "header",
        "csvgzip",
        "quoted",
        "json",
        "jsongzip",
        "jsonarray",
        "orc",
        "avro"
      })
  void loadsByPathAndPlaceForAnyNumberOfRanks(String kind) {
    Dataset<Row> rows = read(kind);

    StoredRecords one = StoredRecords.ofAnyRanks(rows);

    assertThat(longs(one, "id")).isEqualTo(ids());
    assertThat(longs(one, "x"))
        .isEqualTo(ids().stream().map(id -> Double.doubleToRawLongBits(id / 4.0)).toList());
    assertThat(new String(one.values().get("text"), UTF_8))
        .isEqualTo(
            ids().stream()
                .map(id -> (kind.equals("quoted") ? "row\n\"%d\"" : "row %d").formatted(id))
                .collect(Collectors.joining()));
    StoredRecords filtered = StoredRecords.of(rows.where("id % 7 <> 0").select("id"), 3);
    assertThat(longs(filtered, "id")).isEqualTo(ids(7));
  }

  /** A scan without columns does not parse lines, so it must not be the one that counts. */
  @ParameterizedTest
  @ValueSource(strings = {"malformed", "malformedjson"})
  void loadsFilesWhoseMalformedLinesAreDropped(String kind) {
    Dataset<Row> rows = read(kind).select("id");

    StoredRecords one = StoredRecords.ofAnyRanks(rows);

    assertThat(longs(one, "id")).isEqualTo(ids(7));
  }

  @Test
  void namesTheFileOfAMalformedLine() {
    for (String kind : List.of("malformed", "malformedjson")) {
      Dataset<Row> rows =
          FormatSpark.session()
              .read()
              .schema(SCHEMA)
              .option("mode", "FAILFAST")
              .format(kind.equals("malformed") ? "csv" : "json")
              .load(folder.resolve(kind).toString());

      assertThatThrownBy(() -> StoredRecords.of(rows.select("id", "x"), 2))
          .hasStackTraceContaining(kind + "/");
      assertThat(read("csv").count()).isEqualTo(ids().size());
    }
  }
}
