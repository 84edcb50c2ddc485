// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.contract.Untrusted;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.IngestException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

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

  /** Columns of all kinds, for options that a user of SQL gives. */
  private static Dataset<Row> fuzzed;

  static Stream<byte[]> options() {
    fuzzed =
        LocalSpark.session()
            .range(3)
            .selectExpr(
                "id",
                "array(float(id)) as x",
                "cast(id as decimal(20,4)) as d",
                "cast('b' as binary) as b",
                "timestamp_micros(id) as at",
                "date(timestamp_micros(id)) as day",
                "id = 1 as ok",
                "named_struct('p', array(array(int(id))), 'q', 't') as s");
    return Stream.of(
            "name=t\nranks=4\nwidth=2\norderBy=id, x\ntransport=tcp\ntype.x=float32[?]\ncolumns=id,x",
            "path=t\nshuffle=7\nbacking=file\ndirectory=/data\ndecimals=int64\ndecimals.d=float64",
            "name=t\nfillNulls.d=1.5\nfillNulls.at=2024-02-29 12:00:00\nfillNulls.b=00ff\npad.x=NaN",
            "name=t\nfillNulls.s.q=x\ntruncate.s.p=true\npad.s.p=-1\ntype.s.p=int8[2,3]\nfillNulls.day=2024-02-29",
            "path=t\nindexColumn=i\nsample=2\nsampleSeed=5",
            "path=t\ncommand=grant\nrequest=1\nlabel=l\nexpiresInMs=1000")
        .map(text -> text.getBytes(UTF_8));
  }

  /** Options of SQL: one key and value in a line. */
  @MethodSource("options")
  @FuzzTest
  void sqlOptions(byte[] bytes) {
    Map<String, String> given = new HashMap<>();
    new String(bytes, UTF_8)
        .lines()
        .map(line -> line.split("=", 2))
        .forEach(pair -> given.put(pair[0], pair[pair.length - 1]));
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(given);
    Untrusted.parse(
        () -> new WriteOptions(options).spec(fuzzed).toString(), IllegalArgumentException.class);
    Untrusted.parse(
        () -> {
          ReadOptions read = ReadOptions.of(options);
          read.checkScan(options);
          StoreSample sample = StoreSample.of(options);
          return sample == null ? RowRanges.of() : sample.of(100, read.name());
        },
        IllegalArgumentException.class);
    Untrusted.parse(() -> StoreCommand.result(options), IllegalArgumentException.class);
  }
}
