// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.types.StructType;
import org.ddstore.contract.Untrusted;
import org.ddstore.spark.FieldNotation;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;
import org.junit.jupiter.params.provider.MethodSource;

/** Options of a load, which files and users give, and the columns that they concern. */
class OptionsFuzzTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final StructType COLUMNS =
      StructType.fromDDL(
          "id BIGINT, x ARRAY<FLOAT>, t STRING, d DECIMAL(20,4), b BINARY, `a.b` INT,"
              + " s STRUCT<p: DOUBLE, q: ARRAY<ARRAY<INT>>>, ok BOOLEAN, at TIMESTAMP");

  static Stream<byte[]> options() {
    return Stream.of(
            IngestOptions.defaults()
                .field("x", DType.FLOAT32, 3)
                .raggedField("s.q", DType.INT16, 2)
                .fillNulls("t", "none")
                .pad("x", 1.5f)
                .truncate("x"),
            IngestOptions.defaults()
                .columns("id", "d")
                .orderBy("id")
                .decimals(DecimalForm.INT64, "d"),
            IngestOptions.defaults().shuffle(7))
        .map(options -> SavedOptions.toJson(options).toString().getBytes(UTF_8));
  }

  @MethodSource("options")
  @FuzzTest
  void saved(byte[] bytes) throws Exception {
    JsonNode json;
    try {
      json = MAPPER.readTree(new String(bytes, UTF_8));
    } catch (JsonProcessingException e) {
      return;
    }
    Untrusted.parse(() -> SavedOptions.parse(json), IllegalArgumentException.class)
        .ifPresent(
            options ->
                Untrusted.parse(
                    () -> ColumnResolver.resolve(COLUMNS, options),
                    IllegalArgumentException.class,
                    IngestException.class));
  }

  static Stream<byte[]> texts() {
    return Stream.of("float32[?, 3]", "uint8[28,28]", "30s", "tcp", "16", "/dev/shm")
        .map(text -> text.getBytes(UTF_8));
  }

  /** A text as the type of a column and as the value of each setting. */
  @MethodSource("texts")
  @FuzzTest
  void text(byte[] bytes) {
    String text = new String(bytes, UTF_8);
    Untrusted.parse(() -> FieldNotation.parse("x", text), IllegalArgumentException.class);
    for (Setting setting : Setting.values()) {
      Untrusted.parse(
          () -> Settings.of(Map.of(setting.key(), text)), IllegalArgumentException.class);
    }
  }
}
