// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.IngestException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/**
 * Flags that repair nulls and lengths and that give decimals a form: every byte of the store is
 * compared with what Spark SQL computes by coalesce, transform, slice and concat.
 */
class SourceFlagsTest {
  private static final long SEED = 7;

  @TempDir static Path directory;

  private static SparkSession spark;
  private static Dataset<Row> files;

  @CommandLine.Command
  private static final class Holder {
    @Mixin private SourceOptions source;
  }

  @BeforeAll
  static void start() throws IOException {
    spark = ParquetSamples.session();
    String path = directory.resolve("rows").toString();
    spark
        .range(0, 200, 1, 2)
        .selectExpr(
            "id",
            "if(id % 3 = 0, null, int(id)) as age",
            "if(id % 4 = 0, null, concat('t', id)) as text",
            "if(id % 6 = 0, null, cast(concat('b', id) as binary)) as blob",
            "if(id % 3 = 1, null, date_add(date'2000-01-01', int(id))) as day",
            "if(id % 7 = 0, null, slice(array(int(id), 2, null, 4), 1, int(id % 5))) as tokens",
            "if(id % 7 = 0, null, slice(array(id, null), 1, int(id % 3))) as list",
            "slice(array(slice(array(float(id), 1f, null), 1, int(id % 4)), array(2f)), 1,"
                + " int(id % 3)) as m",
            "named_struct('a b', if(id % 2 = 0, null, cast(id / 8 as decimal(9,3)))) as s",
            "cast(id / 3 as decimal(30,10)) as wide",
            "array(cast(id as decimal(5,1))) as prices")
        .write()
        .parquet(path);
    files = spark.read().parquet(path);
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  private static SourceOptions parse(String... flags) {
    Holder holder = new Holder();
    new CommandLine(holder).parseArgs(flags);
    return holder.source;
  }

  private static DemoResult read(SourceOptions asSqlSees, SourceOptions asStored) {
    List<Leaf> leaves = Leaf.of(files.schema(), asSqlSees);
    ExpectedRows expected = RowOracle.query(files, leaves, List.of(), SEED);
    return DemoTask.run(Source.spec(files, asStored).ranks(2), expected, leaves, 64, SEED, 1);
  }

  private static SourceOptions repaired(String age) {
    return parse(
        "--fill-nulls=age=" + age,
        "--fill-nulls",
        "text= a='b' ",
        "--fill-nulls",
        "blob=00ff",
        "--fill-nulls",
        "day=1969-12-31",
        "--type",
        "tokens=int32[3]",
        "--fill-nulls",
        "tokens=9",
        "--pad",
        "tokens=-1",
        "--truncate",
        "tokens,m",
        "--fill-nulls",
        "list=4",
        "--type",
        "m=float32[2,2]",
        "--pad",
        "m=0.5",
        "--fill-nulls",
        "m=-2.5",
        "--decimals",
        "int64",
        "--decimals",
        "wide=float64",
        "--fill-nulls",
        "s.a b=-0.125");
  }

  @Test
  void everyByteIsThatOfSparkSql() {
    DemoResult result = read(repaired("-7"), repaired("-7"));
    assertThat(result.mismatches()).isZero();
    assertThat(result.rowsRead()).isGreaterThanOrEqualTo(200);
    assertThat(read(repaired("-7"), repaired("-8")).mismatches()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"a.b, s.x y", "`a.b`, s.`x y`"})
  void columnsHaveTheirPlainNamesOrThoseOfSql(String dotted, String nested) {
    Dataset<Row> rows =
        spark
            .range(0, 9, 1, 1)
            .selectExpr("if(id = 0, null, -id) as `a.b`", "named_struct('x y', -id) as s");
    for (String order : List.of(dotted, nested)) {
      SourceOptions flags =
          parse(
              "--fields=" + dotted + "," + nested,
              "--type=" + dotted + "=int32",
              "--fill-nulls=" + dotted + "=-9",
              "--order-by=" + order);

      GetTask.Found first = Source.spec(rows, flags).ranks(1).run(new GetTask(List.of(0L))).get(0);

      assertThat(first.records().get(0)).containsEntry("a.b", order.equals(dotted) ? -9 : -8);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--fill-nulls | nope=1 | --fill-nulls nope: no such column: choose one of [id, age,",
        "--fill-nulls | age=old | --fill-nulls age is \"old\", not a value of INT: use a form such",
        "--pad | tokens=x | --pad tokens is \"x\", not a value of INT",
        "--pad | age=1 | --pad age: values of INT cannot be padded",
      })
  void illegalValuesAreNamedAsFlags(String flag, String value, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Source.spec(files, parse(flag, value)))
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--truncate | nope | --truncate nope: no such column: choose one of [id, age",
        "--decimals | age=int64 | --decimals age=FORM is for decimals, not for INT: remove it",
        "--pad | tokens=0 | --pad tokens=VALUE needs a declared shape: --type tokens=int32[28,28]",
        "--fill-nulls | tokens=0 | DECIMAL(9,3) cannot be stored; store it by --decimals s.a b=int64,",
        "--decimals | int64 | DECIMAL(30,10) cannot be stored as int64; store it by --decimals wide=",
      })
  void remediesNameFlags(String flag, String value, String message) {
    assertThatThrownBy(
            () ->
                Source.spec(files, parse(flag, value, "--type", "m=float32[2,2]"))
                    .ranks(2)
                    .run(context -> 0))
        .isInstanceOfAny(IngestException.class, IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "array(array(id)) | --type m=int64[28,28], or m=int64[?,28]",
        "cast(null as int) | null; set a value with --fill-nulls m=VALUE, write files without nulls, or leave the column out with --fields"
      })
  void remediesOfRowsNameFlags(String column, String message) {
    StoreSpec spec =
        Source.spec(spark.range(4).selectExpr(column + " as m"), new SourceOptions()).ranks(2);
    assertThatThrownBy(() -> spec.run(context -> 0))
        .isInstanceOf(IngestException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--fill-nulls | age | \"age\" is not COLUMN=VALUE, as in age=-1",
        "--pad | =1 | \"=1\" is not COLUMN=VALUE",
        "--decimals | price=int32 | \"int32\" is not a form of decimals: choose one of [float64, int64]",
      })
  void malformedFlagsAreUsageErrors(String flag, String value, String message) {
    assertThatThrownBy(() -> parse(flag, value))
        .isInstanceOf(CommandLine.ParameterException.class)
        .hasMessageContaining(message);
  }
}
