// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values in options mean what Spark's casts of the same text mean. */
class ValueNotationTest {
  private static final String OPTION = "option \"fillNulls.c\"";

  private final SparkSession spark = Sparks.local();

  @Test
  void fillsAreTheValuesOfSparksCasts() {
    List<List<String>> values =
        List.of(
            List.of("true", "boolean"),
            List.of("FALSE", "boolean"),
            List.of("-128", "tinyint"),
            List.of("32767", "smallint"),
            List.of("-2147483648", "int"),
            List.of(" 9223372036854775807 ", "bigint"),
            List.of("0.1", "float"),
            List.of("-0.0", "double"),
            List.of("1e300", "double"),
            List.of("NaN", "double"),
            List.of("-Infinity", "float"),
            List.of("-12.345", "decimal(9,3)"),
            List.of(" kept 'as it\\ is' ", "string"),
            List.of("", "string"),
            List.of("1969-12-31", "date"),
            List.of("0001-01-01", "date"),
            List.of("2024-03-31 02:30:00.123456", "timestamp"),
            List.of("2024-02-29T12:00:00+01:00", "timestamp"),
            List.of("1969-12-31T23:59:59.999999Z", "timestamp"),
            List.of("1969-12-31 23:59:59", "timestamp_ntz"));
    spark.conf().set("spark.sql.session.timeZone", "Europe/Berlin");
    try {
      for (List<String> value : values) {
        String text = value.get(0);
        Dataset<Row> none = spark.sql("select cast(null as %s) as c".formatted(value.get(1)));
        DataType type = none.schema().apply("c").dataType();
        IngestOptions options =
            IngestOptions.defaults()
                .decimals(org.ddstore.spark.types.DecimalForm.INT64)
                .fillNulls("c", ValueNotation.of(spark).fill(OPTION, type, text));
        String literal = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
        Dataset<Row> cast =
            spark.sql("select cast(%s as %s) as c".formatted(literal, value.get(1)));
        assertThat(Loads.load(none, options, 1).rows())
            .as(value.toString())
            .isEqualTo(Loads.load(cast, options, 1).rows());
      }
    } finally {
      spark.conf().unset("spark.sql.session.timeZone");
    }
  }

  @Test
  void arraysTakeTheValuesOfTheirElements() {
    ValueNotation values = ValueNotation.of(spark);
    assertThat(values.fill(OPTION, DataType.fromDDL("array<array<int>>"), "7")).isEqualTo(7L);
    assertThat(values.pad(OPTION, DataType.fromDDL("array<boolean>"), "true")).isEqualTo(1);
    assertThat(values.pad(OPTION, DataType.fromDDL("array<date>"), "1970-01-02")).isEqualTo(1);
    assertThat((byte[]) values.fill(OPTION, DataType.fromDDL("binary"), " 00fF7f"))
        .containsExactly(0, 255, 127);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "int | abc | is \"abc\", not a value of INT: use a form such as -1, within [-2147483648,",
        "int | 1.5 | is \"1.5\", not a value of INT",
        "tinyint | 128 | is \"128\", not a value of TINYINT: use a form such as -1, within [-128,",
        "bigint | 9223372036854775808 | not a value of BIGINT",
        "double | 1.5d | is \"1.5d\", not a value of DOUBLE: use a form such as -1.5, 1e9 or NaN",
        "double | 1e400 | not a value of DOUBLE",
        "boolean | yes | is \"yes\", not a value of BOOLEAN: use a form such as true or false",
        "decimal(9,2) | 1,5 | not a value of DECIMAL(9,2): use a form such as -1.5",
        "date | 29.2.2024 | not a value of DATE: use a form such as 2024-02-29",
        "timestamp | now | not a value of TIMESTAMP: use a form such as 2024-02-29 12:00:00 or",
        "timestamp_ntz | 2024-02-30 00:00:00 | not a value of TIMESTAMP_NTZ",
        "binary | 0 | is \"0\", not binary: use pairs of hexadecimal digits such as 00ff7f",
        "map<int,int> | 1 | nulls of MAP<INT, INT> cannot be filled",
        "array<string> | x | nulls of ARRAY<STRING> cannot be filled",
      })
  void illegalValuesAreNamed(String type, String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ValueNotation.of(spark).fill(OPTION, DataType.fromDDL(type), text))
        .withMessageStartingWith(OPTION)
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"int, INT", "string, STRING", "array<string>, ARRAY<STRING>"})
  void onlyArraysOfNumbersArePadded(String type, String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ValueNotation.of(spark).pad("--pad c", DataType.fromDDL(type), "1"))
        .withMessage("--pad c: values of %s cannot be padded".formatted(name));
  }
}
