// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The format of an input follows from the names of its files, or from the option. */
class InputFormatTest {
  @TempDir static Path folder;

  private static SparkSession spark;

  @BeforeAll
  static void write() throws IOException {
    spark =
        SparkSession.builder().master("local[1]").config("spark.ui.enabled", false).getOrCreate();
    Dataset<Row> rows = spark.range(0, 7, 1, 1).selectExpr("id", "cast(id as string) as t");
    for (String format : new String[] {"parquet", "csv", "json", "orc", "avro"}) {
      rows.write()
          .format(format)
          .option("header", true)
          .save(folder.resolve("rows." + format).toString());
      rows.write()
          .format(format)
          .option("header", true)
          .save(folder.resolve("in_" + format).toString());
    }
    Files.createDirectories(folder.resolve("arrays/inner"));
    Files.write(folder.resolve("arrays/inner/a.NPY"), npy());
    Files.write(folder.resolve("nameless"), npy());
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  /** Returns an array of seven bytes in the format of NumPy. */
  private static byte[] npy() {
    String header = "{'descr': '|i1', 'fortran_order': False, 'shape': (7,), }";
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
    out.writeBytes("%-117s\n".formatted(header).getBytes(StandardCharsets.ISO_8859_1));
    out.writeBytes(new byte[] {0, 1, 2, 3, 4, 5, 6});
    return out.toByteArray();
  }

  private static Dataset<Row> read(String path, String... arguments) {
    InputOptions options = new InputOptions();
    new CommandLine(
            CommandLine.Model.CommandSpec.create()
                .addMixin("input", CommandLine.Model.CommandSpec.forAnnotatedObject(options)))
        .parseArgs(arguments);
    return InputFormat.read(spark, folder.resolve(path).toString(), options);
  }

  @ParameterizedTest
  @CsvSource({
    "rows.parquet, id", "rows.csv, id", "rows.json, id", "rows.orc, id", "rows.avro, id",
    "in_parquet, id", "in_csv, id", "in_json, id", "in_orc, id", "in_avro, id",
    "arrays, value", "arrays/inner/a.NPY, value", "arrays/*, value", "arrays/inner/, value"
  })
  void followsFromNames(String path, String column) {
    assertThat(
            read(path).selectExpr("cast(%s as bigint)".formatted(column)).collectAsList().stream()
                .map(row -> row.getLong(0)))
        .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
  }

  @Test
  void canBeNamedWithOptions() {
    assertThat(read("nameless", "--format", "NPY", "--read-option", "column=x").columns())
        .containsExactly("x");
    assertThat(read("rows.csv", "--read-option", "inferSchema=false").schema().simpleString())
        .isEqualTo("struct<id:string,t:string>");
  }

  /** Otherwise a damaged line is a row of nulls in place of its values. */
  @Test
  void refusesDamagedLinesUnlessTheModeSaysOtherwise() throws IOException {
    Files.writeString(folder.resolve("cut.json"), "{\"id\": 1}\n{\"id\": 2\n");

    assertThatThrownBy(() -> read("cut.json"))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("cut.json: cannot be read as json: [MALFORMED_RECORD")
        .hasMessageContaining("--read-option mode=DROPMALFORMED");
    assertThat(read("cut.json", "--read-option", "mode=DROPMALFORMED").count()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"'[\n {\"id\": 1},\n {\"id\": 2}\n]', 2", "'{\n \"id\": 1\n}', 1"})
  void namesTheOptionForJsonOverSeveralLines(String text, int rows) throws IOException {
    Files.writeString(folder.resolve("pretty.json"), text);

    assertThatThrownBy(() -> read("pretty.json"))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("need --read-option multiLine=true");
    assertThat(read("pretty.json", "--read-option", "multiLine=true").count()).isEqualTo(rows);
  }

  @ParameterizedTest
  @CsvSource({"empty.json", "empty.csv"})
  void namesAnEmptyInput(String name) throws IOException {
    Files.writeString(folder.resolve(name), "");

    assertThatThrownBy(() -> read(name))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining(name + ": no column");
  }

  /** Spark parses the selected columns only, by default, and drops other lines. */
  @Test
  void dropsTheSameDamagedLinesForAllColumns() throws IOException {
    Files.writeString(folder.resolve("short.csv"), "a,b\n1,2\n3\n4,5\n");
    Dataset<Row> rows = read("short.csv", "--read-option", "mode=DROPMALFORMED");

    assertThat(rows.collectAsList()).extracting(row -> row.getInt(0)).containsExactly(1, 4);
    assertThat(rows.select("a").collectAsList())
        .extracting(row -> row.getInt(0))
        .containsExactly(1, 4);
  }

  /** Spark's default takes the columns of all files by the positions in the first one. */
  @ParameterizedTest
  @CsvSource({
    "'n,id\n30,3'",
    "'id,m\n3,30'",
    "'id\n3'",
    "'n\n30'",
    "'id,n,x\n3,30,7'",
    "'3,30\n4,40'"
  })
  void refusesCsvFilesWithOtherHeaders(String other) throws IOException {
    Path files = Files.createTempDirectory(folder, "headers");
    Files.writeString(files.resolve("a.csv"), "id,n\n1,10\n2,20\n");
    Files.writeString(files.resolve("b.csv"), other + "\n");
    String path = folder.relativize(files).toString();

    for (String multiLine : new String[] {"false", "true"}) {
      Dataset<Row> rows = read(path, "--read-option", "multiLine=" + multiLine);
      for (String column : new String[] {"*", "id", "n"}) {
        assertThatThrownBy(() -> rows.select(column).collectAsList())
            .hasStackTraceContaining("b.csv")
            .hasStackTraceContaining("CSV header");
      }
    }
    assertThat(read(path + "/a.csv").collectAsList()).hasSize(2);
  }

  @Test
  void comparesNoHeadersIfTheUserSaysSo() throws IOException {
    Path files = Files.createTempDirectory(folder, "headers");
    Files.writeString(files.resolve("a.csv"), "id,n\n1,10\n");
    Files.writeString(files.resolve("b.csv"), "id,m\n3,30\n");
    String path = folder.relativize(files).toString();

    assertThat(read(path, "--read-option", "enforceSchema=true").collectAsList()).hasSize(2);
  }

  @Test
  void namesTheFormatsIfTheNameTellsNone() {
    assertThatThrownBy(() -> read("nameless"))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("nameless: cannot be read as parquet: ")
        .hasMessageContaining("the name tells no format: set --format to one of anndata, avro")
        .hasMessageNotContaining("\n");
  }

  @Test
  void refusesUnknownFormatsAndMissingFiles() {
    assertThatThrownBy(() -> read("nameless", "--format", "xyz"))
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith(
            "--format xyz: no such data source on the class path; legal values: ")
        .hasMessageContaining("npy")
        .hasMessageContaining("parquet");
    assertThatThrownBy(() -> read("absent"))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("absent: no such file or directory");
  }
}
