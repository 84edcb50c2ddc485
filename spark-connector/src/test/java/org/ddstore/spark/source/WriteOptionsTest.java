// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.DDStores;
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
        "ranks | 0 | option \"ranks\" is 0, outside [1, 1,048,576]",
        "shuffle | 1.5 | option \"shuffle\" is \"1.5\", not an integer",
        "backing | disk | option \"backing\" is \"disk\"; legal are shm, direct and file",
        "directory | /data | option \"directory\" is \"/data\", but \"backing\" is not set: set"
            + " \"backing\" to \"file\"",
        "type.img | int8 | option \"type.img\" matches no column; columns are [id, Image, a.b]",
        "type.id | int9 | \"int9\": no type \"int9\": choose one of [bool",
        "type.id | int8[2,x] | \"int8[2,x]\": dimension \"x\" is no number",
      })
  void illegalOptionsAreNamed(String key, String value, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Map.of("name", "t", key, value)).spec(rows))
        .withMessageContaining(message);
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
