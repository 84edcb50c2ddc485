// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The remedies that messages name for types that cannot be stored are taken from the messages and
 * tried: the stored values are those that Spark computes.
 */
class RemediesTest {
  private static final IngestOptions PLAIN = IngestOptions.defaults();
  private static final Pattern CALL =
      Pattern.compile("\\b(map_keys|map_values|to_json|cast|explode|st_asbinary|transform\\w*)\\(");
  private static final Pattern FORM = Pattern.compile("\"decimals\\.[^\"]*\" as \"(\\w+)\"");

  private final SparkSession spark = Sparks.local();

  /** Returns the expressions in a message, without those inside of others. */
  private static List<String> expressions(String message) {
    List<String> found = new ArrayList<>();
    Matcher call = CALL.matcher(message);
    for (int from = 0; call.find(from); ) {
      int end = call.end();
      for (int depth = 1; depth > 0; end++) {
        depth += message.charAt(end) == '(' ? 1 : message.charAt(end) == ')' ? -1 : 0;
      }
      found.add(message.substring(call.start(), end));
      from = end;
    }
    return found;
  }

  private static String refusal(Dataset<Row> rows, IngestOptions options) {
    IngestException refused =
        catchThrowableOfType(IngestException.class, () -> IngestPlan.of(rows, options, 2));
    assertThat(refused).as(rows.schema().toString()).isNotNull();
    return refused.getMessage();
  }

  /** Loads the outcome of an expression and compares it with that of Spark, as text. */
  private void assertStored(Dataset<Row> rows, String expression) {
    Dataset<Row> remedied = rows.selectExpr(expression + " as c");
    boolean isBinary = remedied.schema().apply("c").dataType() instanceof BinaryType;
    List<String> expected =
        remedied
            .select(isBinary ? functions.hex(functions.col("c")) : functions.col("c"))
            .collectAsList()
            .stream()
            .map(row -> text(row.get(0)))
            .toList();
    Loads.Loaded loaded = Loads.load(remedied, 2);
    assertThat(loaded.rows()).hasSizeGreaterThan(1);
    assertThat(loaded.column("c").stream().map(RemediesTest::text)).isEqualTo(expected);
  }

  private static String text(Object value) {
    if (value instanceof java.sql.Date date) {
      return String.valueOf(date.toLocalDate().toEpochDay());
    } else if (value instanceof scala.collection.Seq<?> seq) {
      return text(scala.jdk.javaapi.CollectionConverters.asJava(seq));
    } else if (value instanceof List<?> many) {
      return many.stream().map(RemediesTest::text).toList().toString();
    } else if (value instanceof java.nio.ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      return java.util.HexFormat.of().withUpperCase().formatHex(copy);
    }
    return String.valueOf(value);
  }

  /** The second column is a part of the message, the third is the number of its expressions. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cast(id as decimal(5,1)) | cast(c as double) | 1",
        "cast(id / 10 as decimal(18,3)) | cast(c * 1000 as bigint) | 2",
        "cast(id / 10 as decimal(18,18)) | cast(c * 1000000000000000000 as bigint) | 2",
        "cast(id as decimal(17,0)) | cast(c as bigint) | 2",
        "cast(id as decimal(20,0)) | cast(c as string) | 3",
        "cast(id / 7 as decimal(38,6)) | cast(c as double) | 3",
        "array(cast(id as decimal(5,1))) | cast(c as array<double>) | 1",
        "map(id, float(id)) | take map_keys(c) and map_values(c) | 2",
        "map(id % 2 = 0, date'2024-02-29') | take map_keys(c) and map_values(c) | 2",
        "map('a', 'b') | to_json(c) | 1",
        "map('a', id) | to_json(c) | 1",
        "map(id, 'x') | to_json(c) | 1",
        "map(id, named_struct('a', id)) | to_json(c) | 1",
        "map(id, map('a', id)) | to_json(c) | 1",
        "map(named_struct('a', id), id) | to_json(c) | 1",
        "map(id, array(id)) | to_json(c) | 1",
        "map(id, cast(id as decimal(9,2))) | to_json(c) | 1",
        "map(id, x'00ff') | to_json(c) | 1",
        "map(id, null) | to_json(c) | 1",
        "map(id, interval 3 day) | to_json(c) | 1",
        "map(id, parse_json('[1]')) | to_json(c) | 1",
        "interval 3 day | cast(c as bigint) | 1",
        "interval 3 month | cast(c as bigint) | 1",
        "make_dt_interval(1, id) | cast(cast(c as interval second) as bigint) | 1",
        "make_ym_interval(1, id) | cast(cast(c as interval month) as bigint) | 1",
        "make_interval(1, id) | cast(c as string) | 1",
        "time'12:34:56.789' | cast(c as string) | 1",
        "array('a') | explode(c) | 2",
        "array(map('a', id)) | to_json(c) | 1",
        "array(map(id, id)) | to_json(c) | 1",
        "array(array(map('a', id))) | to_json(c) | 1",
        "array(array('a')) | to_json(c) | 1",
        "array(x'00ff') | to_json(c) | 1",
        "array(interval 3 day) | to_json(c) | 1",
        "array(named_struct('a', id, 'm', map(id, 1))) | to_json(c) | 1",
        "array(parse_json('[1]')) | to_json(c) | 1",
        "array(time'12:34:56') | to_json(c) | 1",
        "parse_json('[1]') | to_json(c) | 1",
      })
  @Tag("slow")
  void everyExpressionOfTheMessageIsStored(String expression, String remedy, int expressions) {
    Dataset<Row> rows = spark.range(1, 3).selectExpr(expression + " as c");
    for (Wording wording : Wording.values()) {
      String message = refusal(rows, PLAIN.wording(wording));
      assertThat(message).contains(remedy);
      assertThat(expressions(message)).as(message).hasSize(expressions);
      if (wording != Wording.OPTIONS) {
        assertThat(message).as("words of %s", wording).doesNotContain("option \"");
      }
    }
    expressions(refusal(rows, PLAIN)).forEach(call -> assertStored(rows, call));
  }

  /** Columns of structs are named by paths, whose names can need quotes. */
  @Test
  void mapsInStructsAreNamedByTheirPaths() {
    Dataset<Row> rows =
        spark
            .range(1, 3)
            .selectExpr(
                "named_struct('k', id, 'in', named_struct('a b', map(id, id * 2), 'm', map('x',"
                    + " array(id)))) as `s.t`");
    String first = refusal(rows, PLAIN);
    assertThat(first)
        .startsWith("column \"s.t.in.a b\": MAP<BIGINT, BIGINT> cannot be stored;")
        .endsWith("take map_keys(`s.t`.in.`a b`) and map_values(`s.t`.in.`a b`)");
    expressions(first).forEach(call -> assertStored(rows, call));
    String second = refusal(rows, PLAIN.columns("s.t.in.m"));
    assertThat(second).endsWith("take to_json(`s.t`.in.m)");
    expressions(second).forEach(call -> assertStored(rows, call));
    assertThat(Loads.load(rows, PLAIN.columns("s.t.k"), 2).rows()).hasSize(2);
  }

  @Test
  void arraysOfUserDefinedTypesAreStoredAsJson() {
    StructType schema = new StructType().add("c", new ArrayType(new VectorType(), false));
    Dataset<Row> rows =
        spark.createDataFrame(
            List.of(
                RowFactory.create(List.of(new double[] {1, 2})),
                RowFactory.create(List.of(new double[] {3}, new double[] {4, 5}))),
            schema);
    String message = refusal(rows, PLAIN);
    assertThat(expressions(message)).containsExactly("to_json(c)");
    assertStored(rows, "to_json(c)");
  }

  /** The forms of decimals that a message names as options are stored. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cast(id / 3 as decimal(18,4)) | 2",
        "array(cast(id / 3 as decimal(9,4))) | 2",
        "cast(id / 3 as decimal(38,10)) | 1",
        "array(cast(id / 3 as decimal(19,0))) | 1",
      })
  void everyFormOfTheMessageIsStored(String expression, int forms) {
    Dataset<Row> rows = spark.range(1, 3).selectExpr(expression + " as c");
    String message = refusal(rows, PLAIN.wording(Wording.OPTIONS));
    List<DecimalForm> found =
        FORM.matcher(message).results().map(form -> DecimalForm.parse(form.group(1))).toList();
    assertThat(found).as(message).hasSize(forms);
    boolean isArray = !(rows.schema().apply("c").dataType() instanceof DecimalType);
    for (DecimalForm form : found) {
      int scale = Integer.parseInt(expression.replaceAll(".*,(\\d+).*", "$1"));
      String one =
          form == DecimalForm.FLOAT64
              ? "cast(%s as double)"
              : "cast(%s * 1" + "0".repeat(scale) + " as bigint)";
      List<String> expected =
          rows
              .selectExpr(
                  isArray
                      ? "transform(c, e -> " + one.formatted("e") + ") as c"
                      : one.formatted("c") + " as c")
              .collectAsList()
              .stream()
              .map(row -> text(row.get(0)))
              .toList();
      Loads.Loaded loaded = Loads.load(rows, PLAIN.decimals(form, "c"), 2);
      assertThat(loaded.column("c").stream().map(RemediesTest::text)).isEqualTo(expected);
    }
  }

  @Test
  void geometriesAreStoredAsTheirBytes() {
    spark.conf().set("spark.sql.geospatial.enabled", "true");
    try {
      String point = "st_geomfromwkb(x'0101000000000000000000F03F0000000000000040')";
      for (String expression :
          List.of(
              point,
              "array(" + point + ")",
              "map(id, array(" + point + "))",
              "array(named_struct('a b', " + point + ", 'id', id))")) {
        Dataset<Row> rows = spark.range(2).selectExpr("id", expression + " as `a b`");
        String message = refusal(rows, PLAIN);
        assertThat(message).contains("GEOMETRY", "cannot be stored; take ");
        assertThat(expressions(message)).hasSize(1);
        assertStored(rows, expressions(message).get(0));
      }
    } finally {
      spark.conf().unset("spark.sql.geospatial.enabled");
    }
  }

  /** The values of placeholders are the user's. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "if(id = 1, null, id) | coalesce\\(.*?, \\.\\.\\) | 7",
        "if(id = 1, null, 'x') | coalesce\\(.*?, \\.\\.\\) | \"none\"",
        "if(id = 1, null, array(id)) | coalesce\\(.*?, \\.\\.\\) | array(5L)",
        "array(if(id = 1, null, id)) | transform\\(.*, \\.\\.\\)\\) | 7",
      })
  void nullsAreReplacedByTheExpressionOfTheMessage(
      String expression, String pattern, String value) {
    Dataset<Row> rows = spark.range(0, 3, 1, 1).selectExpr(expression + " as `c d`");
    for (Wording wording : List.of(Wording.OPTIONS, Wording.QUERY)) {
      String message = failure(rows, PLAIN.wording(wording));
      assertThat(message.contains("set option \"fillNulls.c d\""))
          .as(message)
          .isEqualTo(wording == Wording.OPTIONS);
      Matcher call = Pattern.compile(pattern).matcher(message);
      assertThat(call.find()).as(message).isTrue();
      assertStored(rows, call.group().replace("..", value));
    }
  }

  private static String failure(Dataset<Row> rows, IngestOptions options) {
    return catchThrowableOfType(IngestException.class, () -> Loads.load(rows, options, 1))
        .getMessage();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "array(true) | BOOL | false",
        "array(id, id, 3L) | INT64 | 0",
        "array(date'2024-02-29') | INT32 | date'1970-01-01'",
      })
  void lengthsAreChangedByTheExpressionOfTheMessage(String expression, DType type, String value) {
    Dataset<Row> rows = spark.range(0, 2, 1, 1).selectExpr(expression + " as `c d`");
    IngestOptions options = PLAIN.wording(Wording.QUERY).field("c d", type, 2);
    String message = failure(rows, options);
    assertThat(message).as("the store has its declaration").doesNotContain("ragged");
    Matcher call = Pattern.compile("(concat|slice)\\(.*\\)").matcher(message.split("; ", 2)[1]);
    assertThat(call.find()).as(message).isTrue();
    String changed = call.group().replace("..", value);
    assertStored(rows, changed);
    assertThat(Loads.load(rows.selectExpr(changed + " as `c d`"), options, 1).column("c d"))
        .isEqualTo(Loads.load(rows.selectExpr(changed + " as c"), 1).column("c"));
  }
}
