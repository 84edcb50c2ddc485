// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.IngestException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Options of a write, and what is said of those that are not legal. */
class WriteOptionsTest {
  private final Dataset<Row> rows =
      LocalSpark.session()
          .range(3)
          .selectExpr("id", "array(id) as Image", "named_struct('b', id) as a");

  @Test
  void describeASpecRegardlessOfCase() {
    WriteOptions options =
        new WriteOptions(
            Map.of(
                "NAME",
                "train",
                "Ranks",
                " 4 ",
                "width",
                "2",
                "orderby",
                "id, Image",
                "transport",
                "tcp",
                "type.image",
                "float32[?]",
                "TYPE.a.b",
                "int16",
                "__partition_columns",
                "x"));
    assertThat(options.storeName()).isEqualTo("train");
    assertThat(options.isPlain()).isFalse();
    assertThat(options.spec(rows))
        .asString()
        .isEqualTo(
            "StoreSpec[columns id, Image, a; fields {a.b=int16, Image=float32[?]}, order by [id,"
                + " Image]; ranks 4, width 2, transport tcp]");
    assertThat(DDStores.from(rows)).hasToString("StoreSpec[columns id, Image, a]");
    assertThat(new WriteOptions(Map.of("path", "train")).isPlain()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rank | 4 | option \"rank\" of format \"ddstore\" is unknown; options of a write are"
            + " [name,",
        "ranks | four | option \"ranks\" is \"four\", not an integer",
        "ranks | 0 | option \"ranks\" is 0, outside [1, 16,384]",
        "shuffle | 1.5 | option \"shuffle\" is \"1.5\", not an integer",
        "backing | disk | option \"backing\" is \"disk\"; legal values: shm, direct, file",
        "directory | /data | option \"directory\" is \"/data\", but \"backing\" is not set: set"
            + " \"backing\" to \"file\"",
        "type.img | int8 | option \"type.img\": no such column: choose one of [id, Image, a.b]",
        "type.id | int9 | option \"type.id\": \"int9\": no type \"int9\": choose one of [bool",
        "fillNulls.img | 1 | option \"fillNulls.img\": no such column: choose one of [id, Image, a.b]",
        "fillnulls.ID | x | option \"fillNulls.id\" is \"x\", not a value of BIGINT: use a form",
        "pad.id | 0 | option \"pad.id\": values of BIGINT cannot be padded",
        "pad.image | zero | option \"pad.Image\" is \"zero\", not a value of BIGINT",
        "truncate.image | yes | option \"truncate.image\" is \"yes\"; legal values: true, false",
        "truncate.x | true | option \"truncate.x\": no such column",
        "decimals | int32 | option \"decimals\" is \"int32\"; legal values: float64, int64",
        "decimals.id | double | option \"decimals.id\" is \"double\"; legal values: float64, int64",
        "type.id | int8[2,x] | option \"type.id\": \"int8[2,x]\": dimension \"x\" is not a number",
      })
  void illegalOptionsAreNamed(String key, String value, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Map.of("name", "t", key, value)).spec(rows))
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pad.image | 0 | column \"Image\": option \"pad.Image\" needs a declared shape: option"
            + " \"type.Image\" as \"int64[28,28]\"",
        "truncate.image | true | column \"Image\": option \"truncate.Image\" needs a declared shape",
        "truncate.id | true | column \"id\": option \"truncate.id\" is for arrays, not for BIGINT",
        "decimals.a.b | int64 | column \"a.b\": option \"decimals.a.b\" is for decimals, not for",
      })
  void optionsThatDoNotFitTheirColumnAreNamed(String key, String value, String message) {
    StoreSpec spec = new WriteOptions(Map.of("name", "t", key, value)).spec(rows).ranks(1);
    assertThatThrownBy(() -> spec.run(context -> 0))
        .isInstanceOf(IngestException.class)
        .hasMessageContaining(message);
  }

  @Test
  void columnsThatDifferInCaseAreNamed() {
    Dataset<Row> alike = rows.selectExpr("id", "id AS ID");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Map.of("name", "t", "type.id", "int8")).spec(alike))
        .withMessage(
            "option \"type.id\": columns [id, ID] differ only in case, which options do not"
                + " distinguish: rename one");
  }

  @Test
  void requiresExactlyOneStoreName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Map.of("ranks", "1")).storeName())
        .withMessageContaining("no store name");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Map.of("name", "a", "path", "b")).storeName())
        .withMessageContaining("conflicting store names: option \"name\" is \"a\"");
  }
}
